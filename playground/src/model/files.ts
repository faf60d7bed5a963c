/** What files say: a scenario; and of measurements also words, and a picture of them beside the simulation. */
export interface Opened {
  name: string;
  toml: string;
  words?: string;
  picture?: string;
}

type Told = { done: number } | { problem: string } | Opened;

const MOST = 50e6;

const ALONE =
  "Scenarios (.toml) open here. Files of a router or of a measurement are read by aqmlab: start the page with `aqmlab playground`.";

/**
 * Makes a scenario of files, which the server of the page reads on this machine. Throws Error with what is wrong with
 * them, and a cure.
 */
export async function opened(files: readonly File[], onProgress: (done: number) => void): Promise<Opened> {
  const [first] = files;
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > MOST)
    throw new Error(
      `${(bytes / 1e6).toFixed(0)} MB: the page opens ${MOST / 1e6} MB at most: record less, or cut the capture`,
    );
  if (files.length === 1 && first?.name.endsWith(".toml"))
    return { name: first.name, toml: await first.text() };
  if (!location.protocol.startsWith("http")) throw new Error(ALONE);
  const sent = await Promise.all(files.map(async (file) => [file.name, await base64(file)]));
  const answer = await fetch("/open", { method: "POST", body: JSON.stringify(Object.fromEntries(sent)) });
  if (!answer.ok || answer.body === null) throw new Error(ALONE);
  for await (const line of lines(answer.body)) {
    const told = JSON.parse(line) as Told;
    if ("problem" in told) throw new Error(told.problem);
    if ("toml" in told) return told;
    onProgress(told.done);
  }
  throw new Error("aqmlab has ended: start the playground again");
}

async function base64(file: File): Promise<string> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(new Error(`${file.name}: cannot be read: ${reader.error?.message}`));
    reader.readAsDataURL(file);
  });
  return url.slice(url.indexOf(",") + 1);
}

async function* lines(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const whole = (rest + value).split("\n");
    rest = whole.pop() ?? "";
    yield* whole;
  }
}
