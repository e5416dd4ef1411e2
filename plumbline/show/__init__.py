"""What a person sees: tables, figures, reports."""
