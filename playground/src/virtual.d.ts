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

declare module "virtual:glossary" {
  /** The meaning of each term. */
  const glossary: Record<string, string>;
  export default glossary;
}
