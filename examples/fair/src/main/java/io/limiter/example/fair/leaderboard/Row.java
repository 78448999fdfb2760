package io.limiter.example.fair.leaderboard;

/** A line of a leaderboard. The best member has rank 1. */
public record Row(int rank, String member, long points) {}
