import glossary from "virtual:glossary";
import { For, type JSX } from "solid-js";

const NAMES = new Map(Object.keys(glossary).map((name) => [name.toLowerCase(), name]));

// Longer terms first, so that "congestion window" is not "window"; a plural counts too.
const TERMS = new RegExp(
  `\\b(${[...NAMES.keys()]
    .sort((a, b) => b.length - a.length)
    .map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("|")})(s|es)?\\b`,
  "gi",
);

/** The distance of a meaning from the window's edge, in CSS pixels. */
const EDGE = 8;

let last = 0;

/** A word of the field, with its meaning for those who point at it or come to it with the keyboard. */
export function Term(props: { name: string; children?: JSX.Element }) {
  const meaning = () => glossary[NAMES.get(props.name.toLowerCase()) ?? ""];
  last += 1;
  const id = `term-${last}`;
  let tip!: HTMLSpanElement;
  /** Moves the meaning to where it is inside the window. */
  function fit() {
    tip.style.translate = "none";
    const { left, right } = tip.getBoundingClientRect();
    const over = Math.max(0, right - document.documentElement.clientWidth + EDGE);
    tip.style.translate = `${Math.max(-over, EDGE - left)}px`;
  }
  return (
    <button type="button" class="term" aria-describedby={id} onPointerEnter={fit} onFocus={fit}>
      {props.children ?? props.name}
      <span
        role="tooltip"
        id={id}
        ref={(element) => {
          tip = element;
        }}
      >
        {meaning()}
      </span>
    </button>
  );
}

/** A text, with the first mention of each word of the field explained. */
export function Text(props: { children: string }) {
  const parts = () => {
    const whole = props.children.replaceAll("`", "");
    const seen = new Set<string>();
    const found: { text: string; term: string | null }[] = [];
    let at = 0;
    for (const match of whole.matchAll(TERMS)) {
      const term = (match[1] as string).toLowerCase();
      if (seen.has(term)) continue;
      seen.add(term);
      found.push({ text: whole.slice(at, match.index), term: null }, { text: match[0], term });
      at = match.index + match[0].length;
    }
    return [...found, { text: whole.slice(at), term: null }];
  };
  return (
    <For each={parts()}>{({ text, term }) => (term === null ? text : <Term name={term}>{text}</Term>)}</For>
  );
}
