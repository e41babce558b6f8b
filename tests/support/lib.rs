//! What several subjects share: fixtures, positions, models built in memory.
