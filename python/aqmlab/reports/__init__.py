"""Tables, reports and generated pages."""
