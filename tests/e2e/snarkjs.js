// SPDX-License-Identifier: Apache-2.0
// What snarkjs proves we accept, and what we prove snarkjs accepts, on both curves.
//
// usage: node tests/e2e/snarkjs.js    (in the top folder, with $CUZK)
"use strict";
const fs = require("fs");
const os = require("os");
const path = require("path");
const { spawnSync } = require("child_process");
const snarkjs = require("snarkjs");

const CURVES = ["bn128", "bls12381"];
const CIRCUITS = ["one", "two", "nopub", "poseidon_4", "pub512"];
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "cuzk-e2e-"));
let failures = 0;

function report(what, isGood, detail) {
    console.log(`${isGood ? "ok  " : "FAIL"} ${what}${isGood ? "" : `: ${detail}`}`);
    if (!isGood) failures++;
}

function cuzk(...args) {
    const run = spawnSync(process.env.CUZK, args, { encoding: "utf8" });
    return { code: run.status, text: `exit code ${run.status}: ${run.stdout}${run.stderr}` };
}

function readJson(file) {
    return JSON.parse(fs.readFileSync(file, "utf8"));
}

function write(name, value) {
    const file = path.join(folder, name);
    fs.writeFileSync(file, JSON.stringify(value, null, 1));
    return file;
}

/* A verifier that accepts everything would pass the rest of this test. */
function otherSignals(publics) {
    return publics.map((p, i) => (i === 0 ? (BigInt(p) + 1n).toString() : p));
}

async function oursToTheirs(name, files, vkey) {
    const proofFile = path.join(folder, "proof.json"), publicFile = path.join(folder, "public.json");
    const run = cuzk("prove", "--quiet", files.zkey, files.wtns, proofFile, publicFile);
    report(`${name}: cuzk proves`, run.code === 0, run.text);
    if (run.code !== 0) return;
    const proof = readJson(proofFile), publics = readJson(publicFile);
    report(`${name}: same public signals`, JSON.stringify(publics) === JSON.stringify(readJson(files.publics)), publics);
    report(`${name}: snarkjs accepts cuzk's proof`, await snarkjs.groth16.verify(vkey, publics, proof), "refused");
    if (publics.length > 0) {
        const isWrong = await snarkjs.groth16.verify(vkey, otherSignals(publics), proof);
        report(`${name}: snarkjs refuses it for another statement`, !isWrong, "accepted");
    }
}

async function theirsToOurs(name, files) {
    const { proof, publicSignals } = await snarkjs.groth16.prove(files.zkey, files.wtns);
    const proofFile = write("their_proof.json", proof), publicFile = write("their_public.json", publicSignals);
    const yes = cuzk("verify", files.vkey, publicFile, proofFile);
    report(`${name}: cuzk accepts snarkjs' proof`, yes.code === 0, yes.text);
    if (publicSignals.length > 0) {
        const no = cuzk("verify", files.vkey, write("other_public.json", otherSignals(publicSignals)), proofFile);
        report(`${name}: cuzk refuses it for another statement`, no.code === 1, no.text);
    }
}

async function exportedKey(name, files, vkey) {
    const run = spawnSync(process.env.CUZK, ["export", "vkey", "--zkey", files.zkey], { encoding: "utf8", maxBuffer: 1 << 24 });
    const isSame = run.status === 0 && JSON.stringify(JSON.parse(run.stdout)) === JSON.stringify(vkey);
    report(`${name}: cuzk exports snarkjs' verification key`, isSame, run.stderr);
}

/* A key of cuzk's own setup works in snarkjs. */
async function ownSetup(name, files) {
    const zkey = path.join(folder, "own.insecure.zkey");
    const run = cuzk("setup", "--insecure", "--quiet", "--r1cs", files.r1cs, "--zkey", zkey);
    report(`${name}: cuzk makes a key`, run.code === 0, run.text);
    if (run.code !== 0) return;
    const vkey = JSON.parse(spawnSync(process.env.CUZK, ["export", "vkey", "--zkey", zkey], { encoding: "utf8" }).stdout);
    const { proof, publicSignals } = await snarkjs.groth16.prove(zkey, files.wtns);
    report(`${name}: snarkjs proves with it`, await snarkjs.groth16.verify(vkey, publicSignals, proof), "refused");
}

async function testCircuit(curve, circuit) {
    const here = path.join("tests/golden", curve, circuit), name = `${curve}/${circuit}`;
    const files = {
        zkey: path.join(here, "circuit_final.zkey"), wtns: path.join(here, "witness.wtns"), r1cs: path.join(here, "circuit.r1cs"),
        vkey: path.join(here, "verification_key.json"), publics: path.join(here, "public.json"), proof: path.join(here, "proof.json"),
    };
    const stored = cuzk("verify", files.vkey, files.publics, files.proof);
    report(`${name}: cuzk accepts the stored proof`, stored.code === 0, stored.text);
    if (!fs.existsSync(files.zkey)) return; // the largest ones come without a key
    const vkey = readJson(files.vkey);
    await oursToTheirs(name, files, vkey);
    await theirsToOurs(name, files);
    await exportedKey(name, files, vkey);
    if (circuit === "two" || circuit === "nopub") await ownSetup(name, files);
}

async function main() {
    for (const curve of CURVES) {
        for (const circuit of CIRCUITS) await testCircuit(curve, circuit);
    }
    console.log(failures ? `${failures} failed` : "all good");
    return failures ? 1 : 0;
}

main().catch((error) => { console.error(error); return 1; }).then((code) => {
    fs.rmSync(folder, { recursive: true });
    process.exit(code); // snarkjs leaves its worker threads behind
});
