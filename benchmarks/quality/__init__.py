"""What memory keeps of the answers: `inferscale eval`."""
