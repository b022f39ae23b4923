"""The lab: its page in this installation, links that open it with a scenario, and its server."""
