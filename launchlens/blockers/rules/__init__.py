"""The rules, one file each; `launchlens.blockers` registers them."""
