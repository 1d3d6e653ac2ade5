// SPDX-License-Identifier: MIT OR Apache-2.0
// Pages in a real browser: Debian's Chromium, or whatever CHROMIUM names.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { chromium, type Browser, type Page } from 'playwright-core'
import type { Document } from '../../src/documents'

const FLAGS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--force-color-profile=srgb', '--font-render-hinting=none',
]

/** Where the pages are until `close`. */
const folder = mkdtempSync(join(tmpdir(), 'corecast-viewer-'))
let pages = 0

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS })
}

/** Ends with the browser and the pages; not by a hook of tests, because what measures the pace is none. */
export async function close(browser: Browser): Promise<void> {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
}

export function kept(name: string): Document[] {
  const path = new URL(`../documents/${name}.json`, import.meta.url)
  return (JSON.parse(readFileSync(path, 'utf8')) as { documents: Document[] }).documents
}

/** The page as the Rust crate makes it: with every `<` of its texts written in another way. */
export function pageOf(documents: Document[]): string {
  const page = readFileSync(fileURLToPath(new URL('../../../crates/viewer/assets/page.html', import.meta.url)), 'utf8')
  const text = JSON.stringify({ corecast_view: 1, documents }).replaceAll('<', '\\u003c')
  return page.replace('__CORECAST_DOCUMENTS__', () => text)
}

export type Options = { hash?: string; scheme?: 'light' | 'dark'; width?: number; height?: number }

/** A page of documents, from a file. What goes wrong in it is in `wrong`, what it asks of a network in `asked`. */
export async function open(browser: Browser, documents: Document[], options: Options = {}): Promise<{ page: Page; wrong: string[]; asked: string[] }> {
  const path = join(folder, `page${pages++}.html`)
  writeFileSync(path, pageOf(documents))
  const { width = 1200, height = 720, scheme = 'light' } = options
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme, reducedMotion: 'reduce' })
  const [wrong, asked]: [string[], string[]] = [[], []]
  page.on('pageerror', (error) => wrong.push(error.message))
  page.on('console', (message) => { if (message.type() === 'error') wrong.push(message.text()) })
  page.on('dialog', (dialog) => { wrong.push(`dialog: ${dialog.message()}`); void dialog.dismiss() })
  page.on('request', (request) => { if (!/^(file|data|blob):/.test(request.url())) asked.push(request.url()) })
  const address = pathToFileURL(path)
  address.hash = options.hash ?? ''
  await page.goto(address.href)
  await page.waitForSelector('header h1')
  await settled(page)
  return { page, wrong, asked }
}

/** After the next two frames. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)) }))
}
