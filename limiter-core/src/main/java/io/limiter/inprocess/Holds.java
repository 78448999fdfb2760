package io.limiter.inprocess;

import io.limiter.TimeSource;
import java.util.Arrays;

/**
 * Permits on hold, in the order of unique times: purchases by when they were made, reservations by when they end. Nearly each is later
 * than those before it, so they are in arrays that grow at the end. The sums are a Fenwick tree, so nothing but growth, and
 * one that comes before others, depends on how many there are.
 */
final class Holds {
    private long[] stamps = new long[1];
    /** 0 for one that was removed. */
    private long[] permits = new long[1];
    /** The slot i - 1 has the sum of the lowest one bit of i permits up to there. */
    private long[] sums = new long[1];

    private int size;
    private int used;
    private long total;

    /** The permits of all. */
    long total() {
        return total;
    }

    /** Adds one with a time that no other has. */
    void add(long stamp, long count) {
        if (size == stamps.length) {
            grow();
        }
        int at = slotAfter(stamp - 1);
        System.arraycopy(stamps, at, stamps, at + 1, size - at);
        System.arraycopy(permits, at, permits, at + 1, size - at);
        stamps[at] = stamp;
        permits[at] = count;
        size++;
        for (int i = at; i < size; i++) {
            sums[i] = permits[i] + sum(i) - sum(i + 1 & i);
        }
        total += count;
        used++;
    }

    /** Makes room, at first by closing gaps. */
    private void grow() {
        int old = size;
        long[] oldStamps = stamps;
        long[] oldPermits = permits;
        int capacity = used <= old / 2 ? old : 2 * old;
        stamps = new long[capacity];
        permits = new long[capacity];
        sums = new long[capacity];
        size = 0;
        for (int i = 0; i < old; i++) {
            if (oldPermits[i] > 0) {
                stamps[size] = oldStamps[i];
                permits[size++] = oldPermits[i];
                sums[size - 1] = oldPermits[i] + sum(size - 1) - sum(size & size - 1);
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
        return sum(slotAfter(time));
    }

    /** The first slot with a later time. */
    private int slotAfter(long time) {
        if (size == 0 || stamps[size - 1] <= time) {
            return size;
        }
        int at = Arrays.binarySearch(stamps, 0, size, time);
        return at < 0 ? -at - 1 : at + 1;
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
