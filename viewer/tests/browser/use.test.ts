// SPDX-License-Identifier: MIT OR Apache-2.0
// What people do with a page: keys, clicks, links, files with hostile texts, large ones.

import { readFileSync } from 'node:fs'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FIRST, look, type Look } from '../../src/address'
import type { Document, RunView } from '../../src/documents'
import { large } from '../large'
import { close, kept, launch, open, pageOf, settled } from './page'

let browser: Browser
beforeAll(async () => { browser = await launch() }, 60_000)
afterAll(() => close(browser))

/** What the address says once it has been written. */
async function shown(page: Page): Promise<Look> {
  await settled(page)
  await page.waitForSelector('html:not([data-pending])')
  return look(new URL(page.url()).hash)
}

test('keys move, select and change what is seen, and the address tells', async () => {
  const { page, wrong } = await open(browser, kept('runs'))
  await page.keyboard.press('w')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press(']')
  await page.keyboard.press('m')
  const zoomed = await shown(page)
  expect(zoomed.window).not.toBeNull()
  expect([zoomed.rank, zoomed.arrows]).toEqual([1, false])
  expect(zoomed.message).toBeGreaterThanOrEqual(0)
  await page.keyboard.press('0')
  await page.keyboard.press('m')
  await page.keyboard.press('Escape')
  expect(await shown(page)).toEqual(FIRST)
  await page.keyboard.press('3')
  await page.keyboard.press('.')
  expect(await shown(page)).toEqual({ ...FIRST, tab: 'schedule', round: 1 })
  expect(wrong).toEqual([])
}, 60_000)

test('an address reproduces a view', async () => {
  const hash = 'tab=mesh&slice=50&rank=2'
  const { page } = await open(browser, kept('runs'), { hash })
  expect(await page.locator('[role=tab][aria-selected=true]').textContent()).toBe('Mesh')
  expect(await page.locator('#slice').inputValue()).toBe('50')
  expect(await page.locator('.router.on').count()).toBe(1)
  expect(await shown(page)).toEqual(look(hash))
}, 60_000)

test('a wheel zooms where the pointer is, and a drag moves', async () => {
  const { page } = await open(browser, kept('runs'))
  const box = (await page.locator('canvas.timeline').boundingBox())!
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  await page.mouse.wheel(0, -600)
  const { window: zoomed } = await shown(page)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width / 2 - 100, box.y + box.height / 2, { steps: 4 })
  await page.mouse.up()
  const { window: moved } = await shown(page)
  expect(moved![0]).toBeGreaterThan(zoomed![0])
  expect(Math.abs(moved![1] - moved![0] - (zoomed![1] - zoomed![0]))).toBeLessThanOrEqual(2)
}, 60_000)

test('beside where all time went stands where that of the critical path did', async () => {
  const [run] = kept('runs') as RunView[]
  const { page } = await open(browser, [run])
  const software = run.path.filter(({ cause }) => run.kinds[cause] === 'software').reduce((sum, { start, end }) => sum + end - start, 0)
  const share = Math.round((1000 * software) / run.makespan_ps) / 10
  expect(await page.locator('.causes').nth(1).locator('.cause', { hasText: 'software' }).textContent()).toBe(`software${share} %`)
}, 60_000)

test('pointing at a span says what it is', async () => {
  const { page } = await open(browser, kept('runs'))
  const box = (await page.locator('canvas.timeline').boundingBox())!
  await page.mouse.move(box.x + 300, box.y + 110)
  await settled(page)
  expect(await page.locator('.tip').textContent()).toMatch(/rank \d|message/)
}, 60_000)

test('a cell of the map shows its case, by mouse and by key', async () => {
  const { page } = await open(browser, kept('sweep'))
  await page.locator('[data-case="8"]').click()
  expect(await page.locator('aside h2').first().textContent()).toBe('16 ranks, 16 KiB')
  await page.locator('[data-case="0"]').focus()
  await page.keyboard.press('Enter')
  expect(await page.locator('aside h2').first().textContent()).toBe('4 ranks, 64 B')
}, 60_000)

test('a link of the mesh shows who waited for whom', async () => {
  const documents = kept('waits')
  const run = documents[0] as RunView
  const { hold } = run.link_waits.find(({ hold }) => hold.from.join() !== hold.to.join())!
  const index = run.mesh!.links.findIndex(({ from, to }) => from.join() === hold.from.join() && to.join() === hold.to.join())
  const { page } = await open(browser, documents, { hash: 'tab=mesh' })
  await page.locator(`[data-link="${index}"]`).click()
  expect(await page.locator('aside').textContent()).toContain(hold.message.join('→'))
}, 60_000)

const KEYS: Record<string, string[]> = {
  'runs ': ['wait peer', 'transfer', 'idle'],
  'waits tab=mesh': ['flits per link', 'a message waited here', 'the whole run'],
  'runs tab=schedule': ['from the start', 'arrives in this round', 'to come'],
  'sweep ': ['cube (6)'],
}

test('pictures are saved, and SVG is one that others read', async () => {
  for (const [documents, hash] of [['runs', ''], ['waits', 'tab=mesh'], ['runs', 'tab=schedule'], ['sweep', '']] as const) {
    const { page } = await open(browser, kept(documents), { hash })
    for (const kind of ['SVG', 'PNG']) {
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: kind }).click()])
      const content = readFileSync(await download.path())
      if (kind === 'PNG') expect(content.subarray(1, 4).toString()).toBe('PNG')
      else {
        const text = content.toString()
        const bad = await page.evaluate((svg) => new DOMParser().parseFromString(svg, 'image/svg+xml').querySelector('parsererror') !== null, text)
        expect(bad).toBe(false)
        const drawn = await page.evaluate((svg) => new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement.textContent, text)
        expect(drawn).toContain('corecast 0.0.0, chip ')
        expect(drawn).toContain(await page.locator('h1').textContent())
        // What the colours mean.
        for (const name of KEYS[`${documents} ${hash}`]) expect(drawn).toContain(name)
      }
    }
    await page.close()
  }
}, 120_000)

test('a timeline as PNG has its title, key and settings as SVG has them', async () => {
  const { page } = await open(browser, kept('runs'))
  const sizes: number[] = []
  for (const kind of ['SVG', 'PNG']) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: kind }).click()])
    const content = readFileSync(await download.path())
    sizes.push(kind === 'PNG' ? content.readUInt32BE(20) : Number(/viewBox="0 0 \d+ ([\d.]+)"/.exec(content.toString())![1]))
  }
  expect(Math.abs(sizes[0] - sizes[1])).toBeLessThanOrEqual(1)
}, 60_000)

test('what is too wide for a browser to draw is saved smaller', async () => {
  const [run] = kept('runs') as RunView[]
  run.schedule!.chunk_bytes = Array.from({ length: 20_000 }, () => 1)
  const { page } = await open(browser, [run], { hash: 'tab=schedule' })
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'PNG' }).click()])
  expect(readFileSync(await download.path()).readUInt32BE(16)).toBe(16_000)
}, 60_000)

test('both of two runs are saved, and nothing where nothing is drawn', async () => {
  const documents = kept('runs')
  const { page } = await open(browser, documents, { hash: 'tab=mesh&beside=1' })
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'SVG' }).click()])
  const text = readFileSync(await download.path(), 'utf8')
  for (const { title } of documents) expect(text).toContain(title)
  await page.keyboard.press('4')
  await settled(page)
  expect(await page.getByRole('button', { name: /SVG|PNG/ }).count()).toBe(0)
}, 60_000)

test('what is used by keys keeps the focus', async () => {
  const { page } = await open(browser, kept('runs'))
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent)
  const use = async (locator: Locator): Promise<void> => {
    await locator.focus()
    const before = await focused()
    await page.keyboard.press('Enter')
    await settled(page)
    expect(await focused()).toBe(before)
  }
  await use(page.getByRole('button', { name: 'messages' }))
  await use(page.locator('.cause').nth(1))
  await use(page.getByRole('tab', { name: 'Mesh' }))
  await use(page.locator('[data-link="3"]'))
  await use(page.getByRole('tab', { name: 'Schedule' }))
  for (let round = 0; round < 4; round += 1) await use(page.getByRole('button', { name: 'The next round' }))
  await page.locator('#beside').selectOption('1')
  await settled(page)
  // Of two sliders the second is in the hand.
  await page.locator('#round').nth(1).focus()
  await page.keyboard.press('ArrowLeft')
  await settled(page)
  expect(await page.evaluate(() => [...document.querySelectorAll('#round')].indexOf(document.activeElement!))).toBe(1)
  await page.close()
  const sweep = await open(browser, kept('sweep'))
  await sweep.page.locator('[data-case="3"]').focus()
  await sweep.page.keyboard.press('Enter')
  await settled(sweep.page)
  expect(await sweep.page.evaluate(() => document.activeElement?.getAttribute('data-case'))).toBe('3')
}, 60_000)

test('tabs are chosen by arrows, Home and End', async () => {
  const { page } = await open(browser, kept('runs'))
  const tabs = page.getByRole('tab')
  const chosen = async (): Promise<unknown[]> => {
    await settled(page)
    return await page.evaluate(() => {
      const [tab, panel] = [document.activeElement!, document.querySelector('main [role=tabpanel]')!]
      return [tab.textContent, tab.getAttribute('aria-selected'), panel.getAttribute('aria-labelledby') === tab.id && tab.getAttribute('aria-controls') === panel.id]
    })
  }
  // The Tab key stops at one of them.
  expect(await tabs.evaluateAll((all) => all.map((tab) => tab.getAttribute('tabindex')))).toEqual(['0', '-1', '-1', '-1', '-1'])
  await tabs.first().focus()
  for (const [key, name] of [['ArrowRight', 'Mesh'], ['ArrowRight', 'Schedule'], ['End', 'Settings'], ['ArrowRight', 'Timeline'], ['ArrowLeft', 'Settings'], ['Home', 'Timeline']]) {
    await page.keyboard.press(key)
    expect(await chosen()).toEqual([name, 'true', true])
  }
  // The timeline has not moved with them, and has its keys where it has the focus.
  expect(await shown(page)).toEqual(FIRST)
  await page.keyboard.press('w')
  expect((await shown(page)).window).not.toBeNull()
  await page.close()
  const sweep = await open(browser, kept('sweep'))
  await sweep.page.getByRole('tab').first().focus()
  await sweep.page.keyboard.press('ArrowRight')
  expect(await sweep.page.evaluate(() => document.activeElement?.textContent)).toBe('Settings')
}, 60_000)

test('of a link of another page is shown what this one has', async () => {
  const { page } = await open(browser, kept('runs'), { hash: 'window=1000000000000..2000000000000&rank=700&message=100000&cause=77' })
  await page.keyboard.press('c')
  expect(await shown(page)).toEqual({ ...FIRST, path: false })
}, 60_000)

test('a link that is chosen beside another run is the same one there', async () => {
  const [run, other] = kept('runs') as RunView[]
  other.mesh!.links.reverse()
  const { page } = await open(browser, [run, other], { hash: 'tab=mesh&beside=1' })
  await page.locator('.beside > div').first().locator('[data-link="0"]').click()
  await settled(page)
  const chosen = (await page.locator('aside h2').allTextContents()).filter((one) => one.startsWith('Link '))
  expect(chosen.length).toBe(2)
  expect(chosen[0]).toBe(chosen[1])
}, 60_000)

test('runs with one title are told apart wherever they are chosen', async () => {
  const [run] = kept('runs') as RunView[]
  const other = { ...run, facts: { ...run.facts, set: ['memory.line=64'] } }
  const { page } = await open(browser, [run, other])
  expect(await page.locator('#doc option').allTextContents()).toEqual([run.title, `${run.title}, --set memory.line=64`])
}, 60_000)

test('a run that takes no time has an axis', async () => {
  const [run] = kept('runs') as RunView[]
  const none = { from: [], to: [], bytes: [], posted: [], start: [], end: [] }
  const still: RunView = { ...run, makespan_ps: 0, ranks: [{ ends: [], causes: [], of: [] }], messages: none, path: [], mesh: null, schedule: null }
  const { page, wrong } = await open(browser, [still])
  const { whole } = await page.evaluate(() => ({ whole: (window as unknown as { corecast: { timeline: { whole: number } } }).corecast.timeline.whole }))
  expect([whole, wrong]).toEqual([run.unit_ps, []])
}, 60_000)

test('hostile texts are texts', async () => {
  const markup = '</script><img src=x onerror="alert(1)"><script>alert(2)</script>'
  const replaced = (value: unknown): unknown => {
    if (typeof value === 'string') return value.length > 0 && !['run', 'sweep', 'schedule'].includes(value) ? value + markup : value
    if (Array.isArray(value)) return value.map(replaced)
    if (typeof value === 'object' && value !== null) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, replaced(one)]))
    return value
  }
  for (const name of ['runs', 'waits', 'sweep', 'file']) {
    const documents = replaced(kept(name)) as Document[]
    const { page, wrong, asked } = await open(browser, documents)
    for (const key of ['1', '2', '3', '4', '5', 'ArrowDown', ']']) await page.keyboard.press(key)
    await page.mouse.move(400, 300)
    await settled(page)
    expect(await page.locator('img').count()).toBe(0)
    expect(await page.locator('script').count()).toBe(2)
    expect([wrong, asked]).toEqual([[], []])
    await page.close()
  }
}, 120_000)

test('a script that got in all the same could not run', async () => {
  const { page } = await open(browser, kept('file'))
  const ran = await page.evaluate(() => {
    const script = document.createElement('script')
    script.textContent = 'window.ran = true'
    document.body.append(script)
    return 'ran' in window
  })
  expect(ran).toBe(false)
}, 60_000)

test('a run of 48 ranks and 100,000 messages is shown', async () => {
  const { page, wrong } = await open(browser, [large(48, 100_000)])
  for (const key of ['w', 'w', 'd', 's', 'ArrowDown', ']', 'f', '0']) await page.keyboard.press(key)
  await settled(page)
  expect(await page.locator('h1').textContent()).toBe('100000 messages over 48 ranks')
  expect(wrong).toEqual([])
}, 120_000)

test('in a notebook the address goes to whoever holds the page, and comes from there', async () => {
  const page = await browser.newPage({ viewport: { width: 1200, height: 720 } })
  const wrong: string[] = []
  page.on('pageerror', (error) => wrong.push(error.message))
  await page.setContent('<iframe style="width: 1100px; height: 640px"></iframe>')
  await page.evaluate((text) => {
    addEventListener('message', ({ data }: MessageEvent<{ corecastView?: string }>) => { document.title = data.corecastView ?? '' })
    document.querySelector('iframe')!.srcdoc = text
  }, pageOf(kept('runs')))
  const frame = page.frameLocator('iframe')
  await frame.getByRole('tab', { name: 'Mesh' }).click()
  await page.waitForFunction(() => document.title === 'tab=mesh')
  await page.evaluate(() => { document.querySelector('iframe')!.contentWindow!.postMessage({ corecastView: 'tab=schedule&round=1' }, '*') })
  await frame.locator('[role=tab][aria-selected=true]', { hasText: 'Schedule' }).waitFor()
  await page.evaluate(() => { document.querySelector('iframe')!.contentWindow!.postMessage({ corecastView: 7 }, '*') })
  await frame.locator('[role=tab][aria-selected=true]', { hasText: 'Schedule' }).waitFor()
  expect(wrong).toEqual([])
  await page.close()
}, 60_000)

test('a widget shows the page, and its address follows and leads', async () => {
  const page = await browser.newPage({ viewport: { width: 1200, height: 720 } })
  const wrong: string[] = []
  page.on('pageerror', (error) => wrong.push(error.message))
  await page.setContent('<div id="cell"></div>')
  const code = readFileSync(new URL('../../../crates/py/python/corecast/widget.js', import.meta.url), 'utf8')
  // Its only export becomes a global one.
  await page.addScriptTag({ type: 'module', content: code.replace('export default', 'window.widget =') })
  // A module within a page runs when it likes, unlike other scripts.
  await page.waitForFunction(() => 'widget' in window)
  await page.evaluate((text) => {
    type Model = { get: (name: string) => unknown; set: (name: string, value: unknown) => void; save_changes: () => void; on: (what: string, call: () => void) => void }
    const values: Record<string, unknown> = { page: text, height: 640, address: 'tab=mesh' }
    const calls: Record<string, () => void> = {}
    const model: Model = {
      get: (name) => values[name],
      set: (name, value) => { values[name] = value; document.title = String(values.address); calls[`change:${name}`]?.() },
      save_changes: () => undefined,
      on: (what, call) => { calls[what] = call },
    }
    const here = window as unknown as { model: Model; widget: { render: (context: { model: Model; el: Element }) => unknown } }
    here.model = model
    here.widget.render({ model, el: document.querySelector('#cell')! })
  }, pageOf(kept('runs')))
  const frame = page.frameLocator('iframe')
  const tab = (name: string): Promise<void> => frame.locator('[role=tab][aria-selected=true]', { hasText: name }).waitFor()
  await tab('Mesh')
  await frame.getByRole('tab', { name: 'Certificate' }).click()
  await page.waitForFunction(() => document.title === 'tab=certificate')
  await page.evaluate(() => { (window as unknown as { model: { set: (name: string, value: string) => void } }).model.set('address', 'tab=schedule') })
  await tab('Schedule')
  expect(wrong).toEqual([])
  await page.close()
}, 60_000)
