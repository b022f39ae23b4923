"""Notes: what someone who reads numbers should know of the scenario and the runs that gave them."""
