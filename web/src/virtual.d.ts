declare module "virtual:scenarios" {
  const scenarios: { id: string; title: string; toml: string }[];
  export default scenarios;
}

declare module "virtual:stories" {
  const stories: import("./library.ts").Story[];
  export default stories;
}

declare module "virtual:worker" {
  const source: string;
  export default source;
}
