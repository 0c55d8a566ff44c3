"""Documents for the terminal: tables that never cut a number, in as many columns as there are."""
