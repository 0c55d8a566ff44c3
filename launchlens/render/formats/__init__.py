"""A file for each format of reports, found by `launchlens.render.all_formats`."""
