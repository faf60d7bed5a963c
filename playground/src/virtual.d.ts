declare module "virtual:engine" {
  /** The compiled engine: base64 of its gzip. */
  const code: string;
  export default code;
}

declare module "virtual:scenarios" {
  /** The texts of the shipped scenarios, by name. */
  const library: Record<string, string>;
  export default library;
}

declare module "virtual:catalogue" {
  const catalogue: import("./model/catalogue.js").Catalogue;
  export default catalogue;
}

declare module "virtual:positions-of-p" {
  const positions: Readonly<Record<string, number>>;
  export default positions;
}

declare module "virtual:listed" {
  const listed: readonly import("./model/catalogue.js").Listed[];
  export default listed;
}

declare module "virtual:glossary" {
  /** The meaning of each term. */
  const glossary: Record<string, string>;
  export default glossary;
}
