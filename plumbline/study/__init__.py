"""Studies: parameterised notebooks with pinned figures."""
