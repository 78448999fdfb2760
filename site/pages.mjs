// Copies the pages of ../docs and beside ../README.md into target/pages/, with links that work on the site. Pages stay as they are on GitHub.
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')
const out = join(root, 'site', 'target', 'pages')
// Pages of maintainers stay in ../design. These are on the site, but not in its search: they say nothing that the pages of docs don't say to users.
const notSearched = ['CONTRIBUTING.md', 'CHANGELOG.md', 'README.md', 'benchmarks/README.md']
const beside = ['CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'README.md', 'examples/README.md', 'benchmarks/README.md']

/** Where a page of the repository is on the site. */
function place(path) {
  if (path === 'README.md') return 'readme.md'
  if (path === 'examples/README.md') return 'examples.md'
  if (path === 'benchmarks/README.md') return 'benchmarks.md'
  return path.startsWith('docs/') ? path.slice('docs/'.length) : path.toLowerCase()
}

function filesBelow(folder) {
  return readdirSync(join(root, folder)).flatMap((name) => {
    const path = posix.join(folder, name)
    return statSync(join(root, path)).isDirectory() ? filesBelow(path) : [path]
  })
}

const all = [...filesBelow('docs'), ...beside].filter((path) => existsSync(join(root, path)))
const pages = new Set(all.filter((path) => path.endsWith('.md')))

/** A link to another page or file of the site; a link to a source file becomes its name. */
function link(from, text, target) {
  if (target === '' || target.startsWith('#') || /^[a-z]+:/.test(target)) return `[${text}](${target})`
  const [path, anchor] = target.split('#')
  const there = posix.normalize(posix.join(dirname(from), path))
  if (pages.has(there)) {
    const to = relative(dirname(place(from)), place(there))
    return `[${text}](${to.startsWith('.') ? to : './' + to}${anchor ? '#' + anchor : ''})`
  }
  return there.startsWith('docs/') ? `[${text}](/${there.slice('docs/'.length)})` : text
}

rmSync(out, { recursive: true, force: true })
mkdirSync(join(out, 'public'), { recursive: true })
for (const path of all) {
  if (!pages.has(path)) {
    cpSync(join(root, path), join(out, 'public', path.slice('docs/'.length)))
    continue
  }
  const text = readFileSync(join(root, path), 'utf8')
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part, i) => (i % 2 ? part : part.replace(/\[((?:[^\[\]]|\[[^\]]*\])*)\]\(\s*([^)\s]*)\s*\)/g, (_, shown, target) => link(path, shown, target))))
    .join('')
  // Pages with few headings need no outline beside them, and the reference has a table of its own kind.
  const settings = [
    (text.match(/^## /gm) ?? []).length < 2 ? 'aside: false' : '',
    path === 'docs/configuration.md' ? 'pageClass: reference' : '',
    notSearched.includes(path) ? 'search: false' : '',
  ].filter(Boolean)
  const to = join(out, place(path))
  mkdirSync(dirname(to), { recursive: true })
  writeFileSync(to, settings.length ? `---\n${settings.join('\n')}\n---\n\n${text}` : text)
}
cpSync(join(root, 'site', 'index.md'), join(out, 'index.md'))
console.log(`${pages.size} pages`)
