"""Running and replaying agents against a domain's tools."""
