"""What KV injection costs and gains: `inferscale bench`."""
