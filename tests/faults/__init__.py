"""A judge on loopback that tells the truth, and can be told to do everything that judges and networks do wrong."""
