/** The files beside the compiled code, read from a folder by node and from a web server by a browser. */

const isFile = (url: URL) => url.protocol === "file:";

async function bytes(url: URL): Promise<Uint8Array<ArrayBuffer>> {
  // The name is not constant, so that no bundler for browsers looks for node's module.
  const fs: typeof import("node:fs/promises") = await import(["node", "fs/promises"].join(":"));
  return new Uint8Array(await fs.readFile(url));
}

async function fetched(url: URL): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return response;
}

/** The compiled engine. */
export async function compiled(url: URL): Promise<WebAssembly.Module> {
  if (isFile(url)) return WebAssembly.compile(await bytes(url));
  const response = await fetched(url);
  // A server may not know the type of the file.
  return response.headers.get("content-type")?.startsWith("application/wasm")
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
}

/** The texts of the shipped scenarios, by name. */
export async function texts(url: URL): Promise<Record<string, string>> {
  return isFile(url) ? JSON.parse(new TextDecoder().decode(await bytes(url))) : (await fetched(url)).json();
}
