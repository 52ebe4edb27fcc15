"""Online scoring: which interactions are sampled, the queue they wait in, and the scorer that judges them."""
