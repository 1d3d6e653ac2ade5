// SPDX-License-Identifier: MIT OR Apache-2.0
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'

const target = fileURLToPath(new URL('../crates/viewer/assets', import.meta.url))

/**
 * The licences of the packages that modules of the script are from, for a comment in the page: whoever passes
 * the page on passes them on. `xtask/src/notices.rs` reads it.
 */
function licences(modules: string[]): string {
  const folders = modules.map(name => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(name)?.[1])
  const parts = [...new Set(folders)].filter(folder => folder !== undefined).map(folder => {
    const about = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as Record<string, string>
    const text = readFileSync(`${folder}/LICENSE`, 'utf8').replaceAll('--', '- -').trim()
    return `\n## ${about.name} ${about.version} (${about.license})\n${text}\n`
  })
  const what = "Licences of what this page contains beside corecast's own code."
  return `<!-- ${what}\n${parts.sort().join('')}-->\n`
}

/**
 * Puts script and style into the page, which becomes the one file that the Rust crate embeds.
 *
 * The page allows no script but this one, by its hash, and no address but its own: a text that got
 * into the page as markup after all could still do nothing.
 */
function onePage(): Plugin {
  return {
    name: 'one-page',
    enforce: 'post',
    generateBundle(_, bundle) {
      let script = ''
      let style = ''
      const modules: string[] = []
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === 'chunk') {
          script += file.code
          modules.push(...Object.keys(file.modules))
        } else if (name.endsWith('.css')) style += String(file.source)
      }
      // Nothing in the script may end its element.
      script = script.trim().replaceAll('</script', '<\\/script')
      const hash = createHash('sha256').update(script).digest('base64')
      const policy =
        `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; ` +
        `img-src data: blob:; base-uri 'none'; form-action 'none'`
      const html = bundle['index.html']
      if (html?.type !== 'asset') throw new Error('there is no page')
      let page = String(html.source)
        .replace(/<script type="module"[^>]*><\/script>\s*/g, '')
        .replace(/<link rel="(stylesheet|modulepreload)"[^>]*>\s*/g, '')
      const put = (before: string, text: string): void => {
        if (!page.includes(before)) throw new Error(`the page has no ${before}`)
        page = page.replace(before, () => text + before)
      }
      put('<title>', `<meta http-equiv="Content-Security-Policy" content="${policy}">\n`)
      put('</head>', `<style>${style.trim()}</style>\n`)
      put('</head>', licences(modules))
      put('</body>', `<script>${script}</script>\n`)
      mkdirSync(target, { recursive: true })
      writeFileSync(`${target}/page.html`, page)
      for (const name of Object.keys(bundle)) Reflect.deleteProperty(bundle, name)
    },
  }
}

export default defineConfig({
  plugins: [onePage()],
  build: {
    target: 'es2022',
    modulePreload: false,
    write: true,
    outDir: 'build',
    rollupOptions: { output: { format: 'iife' } },
  },
  test: { include: ['**/*.test.ts'] },
} as Parameters<typeof defineConfig>[0])
