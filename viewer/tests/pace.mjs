// SPDX-License-Identifier: MIT OR Apache-2.0
// How fast a timeline of 48 ranks and 100,000 messages moves: `npm run pace`. No test: it measures
// this computer, whose browser draws without a graphics card here.

import { createServer } from 'vite'

const server = await createServer({ server: { middlewareMode: true }, appType: 'custom', logLevel: 'error' })
const { close, launch, open } = await server.ssrLoadModule('/tests/browser/page.ts')
const { large } = await server.ssrLoadModule('/tests/large.ts')
const browser = await launch()
const { page } = await open(browser, [large(48, 100_000)], { width: 1600, height: 900 })
for (const [name, zoom] of [['whole run', 0.9], ['a tenth', 0.1], ['a hundredth', 0.01]]) {
  const result = await page.evaluate(async (share) => {
    const { timeline } = window.corecast
    timeline.zoom(share / ((timeline.window[1] - timeline.window[0]) / timeline.whole))
    const [draws, frames] = [[], []]
    let [last, by] = [0, 0.01]
    await new Promise((done) => {
      const frame = (now) => {
        if (last > 0) frames.push(now - last)
        last = now
        draws.push(timeline.took)
        if (frames.length >= 240) return done()
        if (frames.length % 60 === 0) by = -by
        timeline.pan(by)
        requestAnimationFrame(frame)
      }
      requestAnimationFrame(frame)
    })
    const at = (list, part) => [...list].sort((a, b) => a - b)[Math.floor(list.length * part)].toFixed(1)
    return { draw: [at(draws, 0.5), at(draws, 0.95)], frame: [at(frames, 0.5), at(frames, 0.95)] }
  }, zoom)
  console.log(`${name}: drawing takes ${result.draw.join(' ms (p95 ')} ms), a frame ${result.frame.join(' ms (p95 ')} ms)`)
}
await close(browser)
await server.close()
