// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { address, FIRST, look } from '../../src/address'
import type { Document, RunView, SweepView } from '../../src/documents'
import { claims, footer } from '../../src/facts'
import { between, bytes, link, number, plural, seconds, value } from '../../src/format'
import { place, scaleOf, share } from '../../src/mesh'
import { Model } from '../../src/model'
import { inkOn, loadColour } from '../../src/palette'
import { held, ranges } from '../../src/schedule'
import { lines, rows } from '../../src/sheet'
import { colourOf, lead } from '../../src/sweep'
import { titles } from '../../src/titles'

function documents(name: string): Document[] {
  const path = new URL(`../documents/${name}.json`, import.meta.url)
  return (JSON.parse(readFileSync(path, 'utf8')) as { documents: Document[] }).documents
}

const run = documents('runs').find((one): one is RunView => one.view === 'run')!
const sweep = documents('sweep').find((one): one is SweepView => one.view === 'sweep')!

test('an address says only what is not as at first, and is read again', () => {
  expect(address(FIRST)).toBe('')
  const other = { ...FIRST, tab: 'mesh' as const, window: [1000, 2000] as [number, number], rank: 3, link: '1,0-2,0', arrows: false }
  expect(look(`#${address(other)}`)).toEqual(other)
})

test('what an address cannot mean is as at first', () => {
  expect(look('#rank=x&tab=%3Cscript%3E&link=3&window=9..1&doc=-7&round=1.5&message=1e999')).toEqual(FIRST)
})

test('numbers are short', () => {
  expect([0, 0.5, 12.345678, 999.95, 109936.964, 1e12].map(number)).toEqual(['0', '0.5', '12.35', '1,000', '109,937', '1,000,000,000,000'])
  expect([1, 4096, 1500, 1 << 20].map(bytes)).toEqual(['1 B', '4 KiB', '1,500 B', '1 MiB'])
  expect([1, 2500, 206241744, 3e12].map(seconds)).toEqual(['1 ps', '2.5 ns', '206.2 µs', '3 s'])
  expect(link([1, 2], [1, 2])).toBe('port of the core at (1,2)')
  expect([null, true, [], ['a', 2], { idle_ns: 0, transfer_ns: 5 }].map(value)).toEqual(['–', 'yes', 'none', 'a, 2', 'transfer ns 5'])
})

test('every rank accounts for the whole run', () => {
  const model = new Model(run)
  expect(model.totals.reduce((sum, time) => sum + time, 0)).toBe(run.makespan_ps * run.ranks.length)
  expect(model.onPath.reduce((sum, time) => sum + time, 0)).toBe(run.makespan_ps)
  expect(model.cause(run.kinds.indexOf('wait_peer'), 3)).toBe('wait peer: rank 3')
})

test('at the end every rank holds what it wants', () => {
  const schedule = run.schedule!
  const last = held(schedule, schedule.rounds - 1)
  schedule.wanted.forEach((chunks, rank) => {
    for (const chunk of chunks) expect(last[rank].has(chunk), `chunk ${chunk} at rank ${rank}`).toBe(true)
  })
  const before = held(schedule, -1)
  expect(before.map((chunks) => [...chunks.keys()])).toEqual(schedule.initial)
})

test('neighbouring chunks are joined', () => {
  expect(ranges([0, 1, 2, 7, 9, 10])).toBe('0-2,7,9-10')
  expect(ranges(Array.from({ length: 40 }, (_, at) => at * 2))).toMatch(/,22 and 28 more$/)
})

test('the two directions of a link lie beside each other', () => {
  const mesh = run.mesh!
  const east = place(mesh, { from: [0, 0], to: [1, 0] }, 80)
  const west = place(mesh, { from: [1, 0], to: [0, 0] }, 80)
  expect(east.x).toBe(west.x)
  expect(east.y - west.y).toBeGreaterThan(8)
  const scale = scaleOf([run])
  for (const one of mesh.links) expect(share(run, one, -1, scale)).toBeLessThanOrEqual(1)
  expect(Math.max(...mesh.links.flatMap((one) => one.load.map((_, slice) => share(run, one, slice, scale))))).toBeCloseTo(1)
})

test('every winner has a colour, and the lead is over the second', () => {
  for (const { runs } of sweep.cases) expect(colourOf(sweep, runs[0].algorithm)).not.toBe('#999999')
  const contestant = (time: number) => ({ algorithm: 'a', time, delivered: true, causes: {} })
  expect(lead({ ranks: 1, bytes: 1, bound: null, runs: [contestant(10), contestant(15)] })).toBe(1.5)
  expect(lead({ ranks: 1, bytes: 1, bound: null, runs: [contestant(10)] })).toBeNull()
})

test('colours can be read', () => {
  expect([inkOn('#000000'), inkOn('#f0e442')]).toEqual(['#ffffff', '#10141a'])
  expect(loadColour(0, 'light')).not.toBe(loadColour(0.001, 'light'))
  expect(loadColour(7, 'light')).toBe(loadColour(1, 'light'))
})

test('claims and settings are told', () => {
  expect(claims(run.certificate!).map(({ name }) => name)).toEqual(['correct', 'deadlock-free', 'contention-free'])
  expect(footer(run.facts)).toMatch(/^corecast \S+, chip scc [0-9a-f]{16}, seed 0$/)
})

test('what is said of a schedule that is not deadlock-free is what it needs', () => {
  const text = (slots: number | null) => claims({ deadlock_free: false, slots_needed: slots }).map((one) => one.text)
  expect(text(1)).toEqual(['it needs 1 slot per connection to complete'])
  expect(text(3)).toEqual(['it needs 3 slots per connection to complete'])
  expect(text(null)).toEqual(['it never completes, however many slots a connection has'])
})

test('from when to when is told in one unit, with digits that tell both apart', () => {
  const model = new Model({ ...run, unit: 'us', unit_ps: 1_000_000 })
  expect(model.stretch(30_000, 130_000)).toBe('30 to 130 ns')
  expect(model.stretch(999_000, 1_002_000)).toBe('0.999 to 1.002 µs')
  expect(model.stretch(12_345_000_000, 12_345_600_000)).toBe('12.345 to 12.3456 ms')
  expect([between(0, 11_788.4), between(12_345.2, 12_345.95)]).toEqual(['0 to 11,788', '12,345.2 to 12,345.95'])
  expect([plural(1, 'case'), plural(2000, 'case')]).toEqual(['1 case', '2,000 cases'])
})

test('settings are as exact as the command line has them', () => {
  expect([12977.271, 11.794017, 0.0004].map(value)).toEqual(['12,977.271', '11.794', '0.0004'])
})

test('documents with one title are told apart by their settings', () => {
  const other = (facts: object): RunView => ({ ...run, facts: { ...run.facts, ...facts } })
  const set = other({ set: ['memory.line=64'], fingerprint: 'b' })
  expect(titles([run, set, sweep])).toEqual([run.title, `${run.title}, --set memory.line=64`, sweep.title])
  expect(titles([run, other({ seed: 1 })])).toEqual([`${run.title}, --seed 0`, `${run.title}, --seed 1`])
  expect(titles([run, other({ fingerprint: 'b' })])[1]).toBe(`${run.title}, chip b`)
  expect(titles([run, run])).toEqual([`${run.title}, document 1`, `${run.title}, document 2`])
})

test('runs beside each other have one scale of loads', () => {
  const { mesh } = run
  const twice: RunView = { ...run, mesh: { ...mesh!, links: mesh!.links.map((one) => ({ ...one, flits: 2 * one.flits })) } }
  const [alone, both] = [scaleOf([run]), scaleOf([run, twice])]
  expect(both.flits).toBe(2 * alone.flits)
  expect(share(run, mesh!.links[0], -1, both)).toBe(share(twice, twice.mesh!.links[0], -1, both) / 2)
  const slow: RunView = { ...run, makespan_ps: 2 * run.makespan_ps }
  expect(share(slow, mesh!.links[0], 0, both)).toBeCloseTo(share(run, mesh!.links[0], 0, both) / 2)
})

test('keys and settings of a picture stay within its width', () => {
  expect(lines('corecast 1, chip scc, seed 0', 13)).toEqual(['corecast 1,', 'chip scc,', 'seed 0'])
  const { placed, height } = rows([{ colour: null, name: 'flits per link' }, ...Array.from({ length: 9 }, () => ({ colour: '#000000', name: 'to 1,000' }))], 300)
  expect(placed.every(({ x }) => x < 300 - 8 * 6)).toBe(true)
  expect(height).toBe(16 * (placed.at(-1)!.y / 16 + 1))
})
