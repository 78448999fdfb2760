package io.limiter.inprocess;

import io.limiter.TimeSource;
import java.util.Arrays;

/**
 * Purchases on hold, in the order of their timestamps. Each is later than those before it, so they are in arrays that grow at
 * the end. The sums are a Fenwick tree, so nothing but growth depends on how many there are.
 */
final class Holds {
    private long[] stamps = new long[1];
    /** 0 for one that was removed. */
    private int[] permits = new int[1];
    /** The slot i - 1 has the sum of the lowest one bit of i permits up to there. */
    private int[] sums = new int[1];

    private int size;
    private int used;
    private long total;

    /** The permits of all. */
    long total() {
        return total;
    }

    /** Adds one that is later than all others. */
    void add(long stamp, long count) {
        if (size == stamps.length) {
            grow();
        }
        append(stamp, (int) count);
        total += count;
        used++;
    }

    private void append(long stamp, int count) {
        stamps[size] = stamp;
        permits[size++] = count;
        sums[size - 1] = count + (int) (sum(size - 1) - sum(size & size - 1));
    }

    /** Makes room, at first by closing gaps. */
    private void grow() {
        int old = size;
        long[] oldStamps = stamps;
        int[] oldPermits = permits;
        int capacity = used <= old / 2 ? old : 2 * old;
        stamps = new long[capacity];
        permits = new int[capacity];
        sums = new int[capacity];
        size = 0;
        for (int i = 0; i < old; i++) {
            if (oldPermits[i] > 0) {
                append(oldStamps[i], oldPermits[i]);
            }
        }
    }

    /** Removes that with the timestamp, if there is one. */
    void remove(long stamp) {
        int at = Arrays.binarySearch(stamps, 0, size, stamp);
        if (at < 0 || permits[at] == 0) {
            return;
        }
        for (int i = at + 1; i <= size; i += i & -i) {
            sums[i - 1] -= permits[at];
        }
        total -= permits[at];
        used--;
        permits[at] = 0;
    }

    /** The permits of those that are not later. */
    long until(long time) {
        int at = Arrays.binarySearch(stamps, 0, size, time);
        return sum(at < 0 ? -at - 1 : at + 1);
    }

    /** The timestamp of the first up to which there are more permits than that; later than any time if there is none. */
    long beyond(long count) {
        int at = 0;
        long left = count;
        for (int step = Integer.highestOneBit(size); step > 0; step /= 2) {
            if (at + step <= size && sums[at + step - 1] <= left) {
                at += step;
                left -= sums[at - 1];
            }
        }
        return at < size ? stamps[at] : TimeSource.MAX_MICROS;
    }

    /** The permits of the first slots. */
    private long sum(int slots) {
        long sum = 0;
        for (int i = slots; i > 0; i &= i - 1) {
            sum += sums[i - 1];
        }
        return sum;
    }
}
