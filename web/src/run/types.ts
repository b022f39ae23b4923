/** What the engine says of scenarios and runs. Times are in picoseconds. */

/** Keys of a scenario and their values, as with `--set`. */
export type Settings = [string, string][];

export interface ScenarioRequest {
  name: string;
  toml: string;
  set: Settings;
}

export interface NodeInfo {
  name: string;
  host: boolean;
}

export interface LevelInfo {
  key: string;
  units: number;
}

export interface LinkInfo {
  name: string;
  from: number;
  to: number;
  /** Rate and delay are those of the moment that is shown. */
  rate: number;
  delay: number;
  packets: boolean;
  /** In cells, packets or bytes, as `unit` says; null if unlimited. */
  capacity: number | null;
  unit: string;
  policy: string;
  levels: LevelInfo[];
  /** The rule of a port whose policy is written in the scenario. */
  rule: string | null;
}

export interface FlowInfo {
  name: string;
  from: number;
  to: number;
  route: number[];
  back: number[];
  /** The routes over which its packets are sprayed, there and back; empty where all take the one that is named above. */
  sprayed: [number[][], number[][]];
  /** The flow whose VC it uses. */
  circuit: number;
  tcp: boolean;
  /** Whether it is many short flows, one after the other and beside each other. */
  pool: boolean;
}

export interface Description {
  name: string;
  duration: number;
  warm_up: number;
  seed: string;
  nodes: NodeInfo[];
  links: LinkInfo[];
  flows: FlowInfo[];
  reasons: string[];
  /** What such a rule may name. */
  rule_names: string[];
  policies: string[];
  scenario: Record<string, any>;
}

export interface Metric {
  name: string;
  /** What people call it. */
  title: string;
  value: number | null;
  unit: string;
}

export interface Outcome {
  fingerprint: string;
  cell_hops: number;
  summary: Metric[];
}

export const enum Place {
  Buffer = 0,
  Stored = 1,
  Link = 2,
  Shaper = 3,
}

export const enum Flag {
  Broken = 1,
  LowPriority = 2,
  Marked = 4,
  Management = 8,
}

/** What a TCP sender did about a loss or a mark. */
export const enum ReactionKind {
  FastRetransmit = 0,
  Timeout = 1,
  Mark = 2,
}

/** Picoseconds in longer units. */
export const US = 1e6;
export const MS = 1e9;
export const S = 1e12;
