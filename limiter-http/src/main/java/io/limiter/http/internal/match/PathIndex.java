package io.limiter.http.internal.match;

import io.limiter.http.internal.match.PathPattern.Kind;
import java.util.Arrays;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The rules that could match a path, found in a time that does not grow with their number: a tree of the segments of their
 * patterns. It selects, {@link PathPattern} decides: the tree never leaves out a rule whose pattern matches, and may name
 * one whose pattern does not. Immutable once it is complete.
 */
final class PathIndex {
    private static final int[] NONE = {};

    /** By the hash of the segment, which several segments may share. */
    private final SortedMap<Integer, PathIndex> literals = new TreeMap<>();

    /** The same when it is complete. */
    private int[] hashes = NONE;

    private PathIndex[] nodes = {};

    private @Nullable PathIndex variable;
    /** The length of the longest literal: longer segments need not be hashed. */
    private int longest = -1;

    /** The rules for a path that ends here, ascending. */
    private int[] here = NONE;

    /** The rules for every path that begins like this, ascending. */
    private int[] below = NONE;

    /** Adds a pattern of a rule. */
    void add(PathPattern pattern, int rule) {
        PathIndex node = this;
        int[] one = {rule};
        for (PathPattern.Segment segment : pattern.segments()) {
            if (segment.kind() == Kind.ANY) {
                node.below = union(node.below, one);
                return;
            }
            if (segment.kind() == Kind.TEXT) {
                String text = segment.text();
                node.longest = Math.max(node.longest, text.length());
                node = node.literals.computeIfAbsent(hash(text, 0, text.length()), hash -> new PathIndex());
            } else {
                node.variable = node.variable == null ? new PathIndex() : node.variable;
                node = node.variable;
            }
        }
        node.here = union(node.here, one);
    }

    /** Completes the tree: each node gets the rules of its ancestors, so that a search only reads its last node. */
    void complete(int[] above) {
        below = union(above, below);
        here = union(below, here);
        hashes = literals.keySet().stream().mapToInt(hash -> hash).toArray();
        nodes = literals.values().toArray(PathIndex[]::new);
        literals.values().forEach(node -> node.complete(below));
        if (variable != null) {
            variable.complete(below);
        }
    }

    /** The rules that could match the rest of a path, from there on; ascending. The array must not be changed. */
    int[] find(String path, int from) {
        int start = PathPattern.segmentStart(path, from);
        if (start == path.length()) {
            return here;
        }
        int end = PathPattern.segmentEnd(path, start);
        int at = end - start > longest ? -1 : Arrays.binarySearch(hashes, hash(path, start, end));
        int[] found = at < 0 ? below : nodes[at].find(path, end);
        return variable == null ? found : union(found, variable.find(path, end));
    }

    /** Those of both, ascending and each once. */
    static int[] union(int[] one, int[] other) {
        if (one.length == 0 || other.length == 0) {
            return one.length == 0 ? other : one;
        }
        int[] both = new int[one.length + other.length];
        int size = 0;
        for (int i = 0, j = 0; i < one.length || j < other.length; size++) {
            int next = j == other.length || (i < one.length && one[i] < other[j]) ? one[i] : other[j];
            both[size] = next;
            i += i < one.length && one[i] == next ? 1 : 0;
            j += j < other.length && other[j] == next ? 1 : 0;
        }
        return size == both.length ? both : Arrays.copyOf(both, size);
    }

    /**
     * Equal for all segments that {@link String#regionMatches(boolean, int, String, int, int)} treats as equal,
     * case-sensitive or not. That method folds the case of surrogate pairs, but not of lone surrogates.
     */
    static int hash(String path, int from, int to) {
        int hash = 0;
        for (int i = from; i < to; i++) {
            char c = path.charAt(i);
            int folded = c < 128 ? c : Character.isSurrogate(c) ? 0 : Character.toLowerCase(Character.toUpperCase(c));
            hash = 31 * hash + (folded | 32);
        }
        return hash;
    }
}
