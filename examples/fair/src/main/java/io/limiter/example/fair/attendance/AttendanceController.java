package io.limiter.example.fair.attendance;

import io.limiter.example.fair.shell.Names;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Attendance by a clock that the visitor can move to another zone, and some days into the future. */
@RestController
@RequestMapping("/api/attendance")
public class AttendanceController {
    /** The member, the zone, and how many days from now. */
    record Visit(@Nullable String member, @Nullable String zone, int days) {}

    /** The month of today, and the days of it on which the member was here; the first day is 1. */
    record View(LocalDate today, YearMonth month, List<Integer> days, int count, int streak, int daysFromNow) {}

    /** Whether it was the first sign-in of that day. */
    record SignedIn(boolean first, LocalDate today) {}

    private static final int LONGEST_TRAVEL = 3_000;

    private final RedissonClient redisson;
    private final Clock clock = Clock.systemUTC();

    AttendanceController(RedissonClient redisson) {
        this.redisson = redisson;
    }

    /** The month and the streak. */
    @GetMapping
    View view(Visit visit) {
        Attendance attendance = attendance(visit);
        String member = Names.checked("member", visit.member());
        YearMonth month = YearMonth.from(attendance.today());
        return new View(
                attendance.today(),
                month,
                attendance.days(member, month).stream()
                        .map(bit -> bit + 1)
                        .boxed()
                        .toList(),
                attendance.count(member, month),
                attendance.streak(member),
                visit.days());
    }

    /** Signs in. */
    @PostMapping("/sign-in")
    SignedIn signIn(@RequestBody Visit visit) {
        Attendance attendance = attendance(visit);
        return new SignedIn(attendance.signIn(Names.checked("member", visit.member())), attendance.today());
    }

    /** Signs in today and on each following day, to the second day of the next year. */
    @PostMapping("/travel")
    View travel(@RequestBody Visit visit) {
        String member = Names.checked("member", visit.member());
        int year = attendance(visit).today().getYear();
        Visit each = visit;
        attendance(each).signIn(member);
        while (!attendance(each).today().equals(LocalDate.of(year + 1, 1, 2))) {
            each = new Visit(member, visit.zone(), each.days() + 1);
            attendance(each).signIn(member);
        }
        return view(each);
    }

    private Attendance attendance(Visit visit) {
        if (visit.days() < 0 || visit.days() > LONGEST_TRAVEL) {
            throw new IllegalArgumentException("days is " + visit.days() + "; give 0 to " + LONGEST_TRAVEL);
        }
        ZonedDateTime moved =
                ZonedDateTime.now(clock).withZoneSameInstant(zone(visit)).plusDays(visit.days());
        return new Attendance(redisson, Clock.fixed(moved.toInstant(), moved.getZone()));
    }

    private static ZoneId zone(Visit visit) {
        try {
            return visit.zone() == null ? ZoneOffset.UTC : ZoneId.of(visit.zone());
        } catch (DateTimeException unknown) {
            throw new IllegalArgumentException("zone is not known; give one such as Europe/Berlin", unknown);
        }
    }
}
