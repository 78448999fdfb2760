// The Javadoc of the libraries, beside the pages. Needs a JDK and Maven; without network, Maven's -o.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')
const made = ['target/reports/apidocs', 'target/site/apidocs'].map((folder) => join(root, folder))
made.forEach((folder) => rmSync(folder, { recursive: true, force: true }))
const goal = ['javadoc:aggregate', '-Ddoclint=none', '-Dmaven.javadoc.failOnWarnings=false', '-Denforcer.skip=true']
const run = spawnSync(
  'mvn',
  ['-q', '-B', '-ntp', ...process.argv.slice(2), '-pl', '.,limiter-core,limiter-control,limiter-http,limiter-servlet,limiter-tools,limiter-spring,limiter-webflux,limiter-grpc,limiter-spring-test', '-Pall', ...goal],
  { cwd: root, stdio: 'inherit' },
)
const folder = made.find((one) => existsSync(one))
if (run.status !== 0 || !folder) {
  console.error('the Javadoc was not made')
  process.exit(1)
}
cpSync(folder, join(root, 'site', 'target', 'pages', 'public', 'javadoc'), { recursive: true })
console.log('Javadoc')
