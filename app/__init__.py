"""The two faces of paretoken: the command line and the dashboard. The only place that prints."""
