package io.limiter.example.fair.sale;

import java.util.UUID;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The sale over HTTP. */
@RestController
@RequestMapping("/api/sale")
class SaleController {
    private final TicketSale sale;

    SaleController(TicketSale sale) {
        this.sale = sale;
    }

    /** The acting user. */
    record Visitor(String visitor) {}

    /** How many visitors come at once. */
    record Crowd(int visitors) {}

    /** Whether the payment counts. */
    record Payment(boolean paid) {}

    @GetMapping
    TicketSale.View view(@RequestParam String visitor) {
        return sale.view(visitor);
    }

    @PostMapping("/buy")
    TicketSale.Attempt buy(@RequestBody Visitor who) {
        return sale.buy(who.visitor());
    }

    @PostMapping("/pay")
    Payment pay(@RequestBody Visitor who) {
        return new Payment(sale.pay(who.visitor()));
    }

    @PostMapping("/rush")
    TicketSale.Rush rush(@RequestBody Crowd crowd) {
        return sale.rush("rush-" + UUID.randomUUID(), crowd.visitors());
    }

    @PostMapping("/reset")
    void reset() {
        sale.reset();
    }
}
