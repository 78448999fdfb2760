package io.limiter.spring.aop;

/** The beans that expressions may name. Thread-safe. */
interface Beans {
    /** Where there is no Spring context. */
    Beans NONE = new Beans() {
        @Override
        public boolean has(String name) {
            return false;
        }

        @Override
        public Object get(String name) {
            throw new IllegalStateException("there is no Spring context, so there is no bean '" + name + "'");
        }
    };

    boolean has(String name);

    Object get(String name);
}
