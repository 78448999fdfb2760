package io.limiter.http.internal;

import io.limiter.internal.config.KeyPart;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.rule.KeyForm;
import java.util.Locale;

/** The form of the keys that the filter makes for a rule. Needs no servlet API, so that any application can use it. */
public final class RuleKeyForm {
    private RuleKeyForm() {}

    /** The form of all keys that the rule makes. */
    public static KeyForm of(RuleDefinition rule) {
        KeyForm.Builder form = KeyForm.builder();
        for (KeyPart part : rule.key()) {
            if (part.kind() == KeyPart.Kind.CLASS) {
                return KeyForm.any();
            }
            if (part.kind() == KeyPart.Kind.IP) {
                form.address();
            } else if (part.isFolded()) {
                form.folded(label(part), part.kind().isSecret());
            } else if (part.kind().isSecret()) {
                form.secret(label(part));
            } else {
                form.text(label(part));
            }
        }
        return form.build();
    }

    /** The label of a part in keys: its kind, and its name after a dot. */
    static String label(KeyPart part) {
        String name = part.name();
        if (name == null) {
            return part.kind().text();
        }
        // One header has many spellings; cookies and variables have one.
        return part.kind().text() + "." + (part.kind() == KeyPart.Kind.HEADER ? name.toLowerCase(Locale.ROOT) : name);
    }
}
