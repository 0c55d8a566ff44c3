"""The command line: `main` joins the files of `commands`."""
