"""How much a fleet needs, and what happens on it: `inferscale plan`."""
