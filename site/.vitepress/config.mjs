import { defineConfig } from 'vitepress'

const group = (text, link, items, collapsed = true) => ({ text, link, items, collapsed })
const page = (text, link) => ({ text, link })

export default defineConfig({
  title: 'Limiter',
  description: 'A rate limiter for Java services: in this JVM or in Redis, with the same meaning',
  lang: 'en',
  // Without a picture, browsers ask for one that does not exist.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  srcDir: 'target/pages',
  // The Javadoc has Markdown of its own, the licences of its scripts, which are no pages.
  srcExclude: ['public/**'],
  outDir: 'target/dist',
  cacheDir: 'target/cache',
  cleanUrls: false,
  lastUpdated: false,
  // Headings are called on the site as on GitHub, so that one link works on both.
  markdown: {
    anchor: {
      slugify: (text) =>
        text
          .toLowerCase()
          .replace(/[^\p{L}\p{N}_ -]/gu, '')
          .replaceAll(' ', '-'),
    },
  },
  // Not the Javadoc and examples of addresses: the build can't see them.
  ignoreDeadLinks: [/^\/javadoc\//, /^https?:\/\/localhost/],
  themeConfig: {
    search: {
      provider: 'local',
      // One letter of a word of six or more may be wrong. With the default, ALB finds "all", and OAuth finds "path".
      options: { miniSearch: { searchOptions: { fuzzy: 0.09 } } },
    },
    outline: { level: [2, 3] },
    nav: [
      page('Getting started', '/getting-started'),
      page('How do I ...?', '/how-do-i'),
      page('Configuration', '/configuration'),
      { text: 'Javadoc', link: '/javadoc/index.html', target: '_self' },
    ],
    sidebar: [
      group(
        'Getting started',
        '/getting-started',
        [
          page('Spring Boot', '/getting-started/spring-boot'),
          page('Spring', '/getting-started/spring'),
          page('WebFlux', '/getting-started/webflux'),
          page('Gateway', '/getting-started/gateway'),
          page('gRPC', '/getting-started/grpc'),
          page('web.xml', '/getting-started/web-xml'),
          page('Plain Java', '/getting-started/plain-java'),
          page('AspectJ', '/getting-started/aspectj'),
        ],
        false,
      ),
      group(
        'How do I ...?',
        '/how-do-i',
        [
          page('Limit requests', '/how-do-i/limit-requests'),
          page('ALB, CloudFront, Cloudflare', '/how-do-i/behind-a-proxy'),
          page('Operate limits', '/how-do-i/operate'),
          page('Use it in Java code', '/how-do-i/use-java'),
          page('WebFlux, Gateway, JAX-RS', '/how-do-i/use-other-frameworks'),
          page('Come from another library', '/how-do-i/migrate'),
          page('What Limiter does not do', '/what-limiter-does-not-do'),
        ],
        false,
      ),
      group('Recipes', '/recipes/spring-ai', [
        page('Spring AI', '/recipes/spring-ai'),
        page('LangChain4j', '/recipes/langchain4j'),
        page('MCP', '/recipes/mcp'),
        page('GraphQL', '/recipes/graphql'),
        page('WebSocket', '/recipes/websocket'),
        page("A third party's API", '/recipes/third-party-api'),
      ]),
      group('Configuration', '/configuration', [page('Limits in text', '/limits')]),
      group('Rules', '/rules', [
        page('Exempt and denied', '/rules/exempt-and-denied'),
        page('Keys', '/rules/keys'),
        page('Outcomes, cost, members', '/rules/outcomes-and-cost'),
        page('Plans', '/rules/plans'),
        page('Waiting and blocking', '/rules/waiting-and-blocking'),
        page('Where each feature works', '/rules/where-each-feature-works'),
      ]),
      group('HTTP', '/http', [
        page('Denied requests', '/http/denials'),
        page('Which requests match', '/http/matching'),
        page('The filter', '/http/filter'),
        page("The client's address", '/client-address'),
        page('gRPC', '/grpc'),
      ]),
      group('Spring', '/spring', [
        page('Spring Boot', '/spring/boot'),
        page('@RateLimited', '/spring/annotation'),
        page('Where it works', '/spring/where-it-works'),
        page('Asynchronous and denied calls', '/spring/calls'),
        page('WebFlux', '/spring/webflux'),
        page('Gateway', '/spring/gateway'),
        page('Testing', '/spring/testing'),
        page('Endpoint, health, meters', '/spring/actuator'),
        page('When startup fails', '/spring/startup-failures'),
      ]),
      group('Operations', '/operations', [
        page('Change limits, see who is limited', '/operations/change-and-look'),
        page('Control from one place', '/operations/control'),
        page('Monitoring', '/operations/monitoring'),
        page('Access to Redis', '/operations/redis-access'),
        page('Redis', '/redis'),
        page('Flash sales', '/redis/flash-sales'),
        page('Compatibility', '/compatibility'),
        page('What a decision costs', '/performance'),
        page('Security', '/security'),
        page('Personal data', '/personal-data'),
      ]),
      group('Codes in the log', '/diagnostics', [
        page('RL-1xx: configuration', '/diagnostics/rl-100'),
        page('RL-12x: Spring', '/diagnostics/rl-120'),
        page('RL-15x: rules and limits', '/diagnostics/rl-150'),
        page('RL-19x: the client\'s address', '/diagnostics/rl-190'),
        page('RL-2xx: Redis', '/diagnostics/rl-200'),
        page('RL-3xx: HTTP', '/diagnostics/rl-300'),
        page('RL-4xx: this JVM', '/diagnostics/rl-400'),
        page('RL-5xx: control', '/diagnostics/rl-500'),
      ]),
      group('Algorithms', '/algorithms', [
        page('Fixed window', '/algorithms/fixed-window'),
        page('Sliding log', '/algorithms/sliding-log'),
        page('Token bucket', '/algorithms/token-bucket'),
        page('Distinct members', '/algorithms/distinct-members'),
        page('Calls in flight', '/algorithms/concurrent'),
        page('Stock', '/algorithms/allotment'),
        page('Several limits', '/algorithms/several-limits'),
        page('Held permits', '/algorithms/holds'),
        page('Block', '/algorithms/block'),
      ]),
      group('The project', '/readme', [
        page('Changelog', '/changelog'),
        page('Contributing', '/contributing'),
      ]),
    ],
    footer: { message: 'Apache-2.0' },
  },
})
