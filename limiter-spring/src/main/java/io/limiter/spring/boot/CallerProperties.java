package io.limiter.spring.boot;

import java.util.List;

/** The properties below {@code limiter.rules.<name>.exempt}. */
abstract class CallerProperties {
    /** Networks that their addresses are in: {@code 10.0.0.0/8}, {@code loopback}, {@code private}. */
    public abstract List<String> getAddresses();

    public abstract void setAddresses(List<String> addresses);

    /** Names of authenticated users. */
    public abstract List<String> getUsers();

    public abstract void setUsers(List<String> users);

    /** Roles of authenticated users. */
    public abstract List<String> getRoles();

    public abstract void setRoles(List<String> roles);
}
