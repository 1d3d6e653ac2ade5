// SPDX-License-Identifier: MIT OR Apache-2.0
// The documents of a page, as crates/viewer/src/document.rs writes them. They were checked there:
// every index names something, and times are in order.

export type Pair = [number, number]
export type Facts = Record<string, unknown>

export type RankView = { ends: number[]; causes: number[]; of: number[] }

export type Messages = {
  from: number[]
  to: number[]
  bytes: number[]
  posted: number[]
  start: number[]
  end: number[]
}

export type PathView = { rank: number; cause: number; of: number; start: number; end: number }

export type HoldView = { from: Pair; to: Pair; message: Pair; holder: Pair | null }

export type LinkView = { from: Pair; to: Pair; flits: number; load: number[] }

export type MeshView = {
  size: Pair
  places: Pair[]
  links: LinkView[]
  slices: number
  peak_bytes: number
}

export type ScheduleView = {
  ranks: number
  rounds: number
  chunk_bytes: number[]
  chunks: number
  initial: number[][]
  wanted: number[][]
  transfers: { round: number; from: number; to: number; chunks: number[]; bytes: number }[]
  writes: { round: number; rank: number; chunk: number; combines: boolean }[]
  steps: string[][]
}

export type RunView = {
  view: 'run'
  title: string
  name: string
  facts: Facts
  advice: string | null
  unit: string
  unit_ps: number
  makespan_ps: number
  bound_ps: number | null
  delivered: boolean | null
  kinds: string[]
  ranks: RankView[]
  messages: Messages
  path: PathView[]
  holds: HoldView[]
  link_waits: { rank: number; hold: HoldView; wait_ps: number }[]
  mesh: MeshView | null
  schedule: ScheduleView | null
  certificate: Facts | null
  notes: string[]
}

export type Contestant = {
  algorithm: string
  time: number | null
  delivered: boolean
  causes: Record<string, number>
}

export type Case = { ranks: number; bytes: number; bound: number | null; runs: Contestant[] }

export type SweepView = {
  view: 'sweep'
  title: string
  facts: Facts
  unit: string
  ranks: number[]
  sizes: number[]
  winners: string[]
  cases: Case[]
}

export type ScheduleFileView = {
  view: 'schedule'
  title: string
  name: string
  schedule: ScheduleView | null
  certificate: Facts
  notes: string[]
}

export type Document = RunView | SweepView | ScheduleFileView
