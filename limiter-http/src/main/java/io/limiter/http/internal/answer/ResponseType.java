package io.limiter.http.internal.answer;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.ObjIntConsumer;
import java.util.function.Predicate;

/**
 * How a server's responses are written; functions, because an object for each response would be made for each request.
 *
 * @param <R> the responses
 * @param isCommitted whether it is too late for fields
 * @param begin sets the status of an answer that replaces what is buffered
 * @param clear removes all fields
 * @param set replaces all lines of a field by one
 * @param add adds a line to a field
 * @param lines returns the lines of a field
 * @param each passes on all fields
 */
public record ResponseType<R>(
        Predicate<R> isCommitted,
        ObjIntConsumer<R> begin,
        Consumer<R> clear,
        Field<R> set,
        Field<R> add,
        BiFunction<R, String, Collection<String>> lines,
        BiConsumer<R, BiConsumer<String, Collection<String>>> each) {
    /** Writes a line of a field. */
    public interface Field<R> {
        /** Writes it. */
        void write(R response, String field, String line);
    }

    /** Replaces all lines of a field by one or more. */
    void setAll(R response, String field, List<String> all) {
        set.write(response, field, all.get(0));
        all.stream().skip(1).forEach(line -> add.write(response, field, line));
    }

    /** All fields. */
    public Map<String, List<String>> fields(R response) {
        Map<String, List<String>> fields = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        each.accept(response, (name, all) -> fields.put(name, List.copyOf(all)));
        return fields;
    }

    /** Leaves only these fields. */
    public void restore(R response, Map<String, List<String>> fields) {
        clear.accept(response);
        fields.forEach((name, all) -> setAll(response, name, all));
    }
}
