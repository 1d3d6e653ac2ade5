// SPDX-License-Identifier: MIT OR Apache-2.0
// Pictures of every view beside those that were looked at. `CORECAST_BLESS=1` writes them again.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pixelmatch from 'pixelmatch'
import type { Browser } from 'playwright-core'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { close, kept, launch, open, type Options } from './page'

/** Of all pixels so many may differ: letters are not drawn the same everywhere. */
const DIFFERENT_MAX = 0.03

let browser: Browser
beforeAll(async () => { browser = await launch() }, 60_000)
afterAll(() => close(browser))

const VIEWS: Record<string, [string, Options]> = {
  'timeline': ['runs', {}],
  'timeline-dark': ['runs', { scheme: 'dark', hash: 'rank=3' }],
  'timeline-beside': ['runs', { hash: 'beside=1' }],
  'timeline-narrow': ['runs', { width: 700, height: 900 }],
  'mesh': ['waits', { hash: 'tab=mesh' }],
  'mesh-over-time-dark': ['waits', { scheme: 'dark', hash: 'tab=mesh&slice=120&link=0,1-1,1' }],
  'schedule': ['runs', { hash: 'tab=schedule&round=1' }],
  'certificate': ['file', { hash: 'tab=certificate' }],
  'sweep': ['sweep', { hash: 'case=4' }],
  'sweep-dark': ['sweep', { scheme: 'dark' }],
}

function folder(name: string): string {
  return fileURLToPath(new URL(`../${name}`, import.meta.url))
}

for (const [name, [documents, options]] of Object.entries(VIEWS)) {
  test(`the picture of ${name}`, async () => {
    const { page, wrong, asked } = await open(browser, kept(documents), options)
    const shot = await page.screenshot({ animations: 'disabled', caret: 'hide' })
    expect([wrong, asked]).toEqual([[], []])
    await page.close()
    const path = `${folder('pictures')}/${name}.png`
    if (process.env.CORECAST_BLESS !== undefined || !existsSync(path)) {
      if (process.env.CI === 'true') throw new Error(`${path} is missing`)
      mkdirSync(folder('pictures'), { recursive: true })
      writeFileSync(path, shot)
      return
    }
    const [found, expected] = [PNG.sync.read(shot), PNG.sync.read(readFileSync(path))]
    expect([found.width, found.height]).toEqual([expected.width, expected.height])
    const { width, height } = found
    const different = pixelmatch(found.data, expected.data, undefined, width, height, { threshold: 0.2 })
    if (different > width * height * DIFFERENT_MAX) {
      // To be looked at.
      mkdirSync(folder('../build'), { recursive: true })
      writeFileSync(`${folder('../build')}/${name}.png`, shot)
    }
    expect(different / (width * height)).toBeLessThanOrEqual(DIFFERENT_MAX)
  }, 60_000)
}
