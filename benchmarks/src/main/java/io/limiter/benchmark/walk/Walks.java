package io.limiter.benchmark.walk;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.connect.LaunchingConnector;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.MethodEntryEvent;
import com.sun.jdi.event.VMDeathEvent;
import com.sun.jdi.event.VMDisconnectEvent;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.MethodEntryRequest;
import io.limiter.benchmark.Main;
import io.limiter.benchmark.Options;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * How much of our code one warm call meets: the classes, the hand-overs from one class to another, and the calls, seen by a debugger that hears of each
 * method that another JVM enters.
 */
public final class Walks {
    private static final String OURS = "io.limiter.*";
    private static final String NOT_OURS = "io.limiter.benchmark.*";

    private final VirtualMachine machine;
    private final List<String> walk = new ArrayList<>();
    private MethodEntryRequest entries;

    private Walks(VirtualMachine machine) {
        this.machine = machine;
        ClassPrepareRequest marker = machine.eventRequestManager().createClassPrepareRequest();
        marker.addClassFilter(Steps.Marker.class.getName());
        marker.enable();
        entries = machine.eventRequestManager().createMethodEntryRequest();
        entries.addClassFilter(OURS);
        entries.addClassExclusionFilter(NOT_OURS);
        entries.setSuspendPolicy(EventRequest.SUSPEND_NONE);
    }

    /** Prints a row for each walk; with {@code --path FOLDER} also each walk, a line for each method, to a file in that folder. */
    public static void run(String[] args, PrintStream out) throws Exception {
        Options options = new Options(args, "walks", String.join(",", Steps.NAMES), "path", "");
        out.println("walk,classes,hand_overs,calls");
        for (String name : options.list("walks")) {
            List<String> walk = walk(name);
            out.println(Summary.of(name, walk));
            if (!options.text("path").isEmpty()) {
                Files.write(Path.of(options.text("path"), name + ".txt"), walk, StandardCharsets.UTF_8);
            }
        }
    }

    private static List<String> walk(String name) throws Exception {
        LaunchingConnector connector = Bootstrap.virtualMachineManager().defaultConnector();
        Map<String, Connector.Argument> arguments = connector.defaultArguments();
        arguments.get("options").setValue("-cp \"" + System.getProperty("java.class.path") + "\"");
        arguments.get("main").setValue(Main.class.getName() + " walk-steps " + name);
        VirtualMachine machine = connector.launch(arguments);
        Walks walks = new Walks(machine);
        drain(machine.process());
        walks.listen();
        if (machine.process().waitFor() != 0) {
            throw new IllegalStateException("the walk " + name + " failed");
        }
        return walks.walk;
    }

    /** A process whose output nobody reads stops when the pipe is full. */
    private static void drain(Process process) {
        Thread reader = new Thread(
                () -> {
                    try {
                        process.getErrorStream().transferTo(System.err);
                    } catch (IOException ended) {
                        System.err.println(ended.getMessage());
                    }
                },
                "walk-output");
        reader.setDaemon(true);
        reader.start();
    }

    private void listen() throws InterruptedException {
        while (true) {
            EventSet events = machine.eventQueue().remove();
            for (Event event : events) {
                if (event instanceof VMDisconnectEvent || event instanceof VMDeathEvent) {
                    return;
                }
                on(event);
            }
            events.resume();
        }
    }

    private void on(Event event) {
        if (event instanceof ClassPrepareEvent prepared) {
            for (String method : List.of("begin", "end")) {
                machine.eventRequestManager()
                        .createBreakpointRequest(prepared.referenceType()
                                .methodsByName(method)
                                .get(0)
                                .location())
                        .enable();
            }
        } else if (event instanceof BreakpointEvent reached) {
            entries.setEnabled(reached.location().method().name().equals("begin"));
        } else if (event instanceof MethodEntryEvent entered) {
            walk.add(entered.method().declaringType().name() + "."
                    + entered.method().name());
        }
    }
}
