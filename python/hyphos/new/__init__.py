"""`hyphos new`: a complete small project from templates."""
