package io.limiter.kit;

/** Times in traces: whole numbers of {@code us}, {@code ms}, {@code s}, also {@code 9.5s}. */
final class LimitTexts {
    private LimitTexts() {}

    static long micros(String text) {
        String unit = text.replaceAll("[0-9.]", "");
        long scale = switch (unit) {
            case "us" -> 1;
            case "ms" -> 1_000;
            case "s" -> 1_000_000;
            default -> throw new IllegalArgumentException("no time: " + text);
        };
        return new java.math.BigDecimal(text.substring(0, text.length() - unit.length()))
                .multiply(java.math.BigDecimal.valueOf(scale))
                .longValueExact();
    }

    static String text(long micros) {
        return java.math.BigDecimal.valueOf(micros, 6).stripTrailingZeros().toPlainString() + "s";
    }
}
