/** The terms of a glossary in Markdown and their meanings, as plain text: a second-level heading and its paragraphs each. */
export function entries(markdown: string): Record<string, string> {
  const sections = markdown.split(/^## /m).slice(1);
  return Object.fromEntries(
    sections.map((section) => {
      const [title = "", ...rest] = section.split("\n");
      return [title.trim(), plain(rest.join("\n"))];
    }),
  );
}

/** Markdown without links, code and references to other pages. */
function plain(markdown: string): string {
  return markdown
    .replace(/\s+/g, " ")
    .replace(/\bSee (also )?\[[^\]]*\]\([^)]*\)((,| and) \[[^\]]*\]\([^)]*\))*\./g, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll("`", "")
    .trim();
}
