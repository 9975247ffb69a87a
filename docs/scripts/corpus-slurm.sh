#!/bin/bash
# Preprocess a corpus, train a summarizer on it and evaluate that, in jobs of SLURM that wait for each other. On the login node:
#
#     bash corpus-slurm.sh /shared/cnndm /shared/run
#
# The first folder has train.parquet, validation.parquet and test.parquet; the second one is made. All nodes see both under these paths, and
# find discsum and accelerate. After a failure, give the command again: what is done is kept. Models of the hub have to be in the cache of
# nodes without a network. The settings below are variables of the environment.
set -euo pipefail

# Jobs a split, and workers of each; nodes that train, and GPUs of each, which have as many CPUs each; ending of the tables. With GPUS=0, each
# node trains in one process without a GPU.
export PARTS=${PARTS:-64} CPUS=${CPUS:-4} NODES=${NODES:-2} GPUS=${GPUS:-4} TABLES=${TABLES:-parquet}
# What is trained, and options of discsum preprocess and evaluate that it needs.
export RECIPE=${RECIPE:-xiao2020/sentence-default-c_tree} EVALUATE=${EVALUATE:---unit sentence}
export PREPROCESS=${PREPROCESS:---oracle kedzie --encoder bert-base-uncased}

processes=$((GPUS == 0 ? 1 : GPUS)) # that train on a node
# One assignment a line: only the status of the last one on a line ends the script.
self=$(realpath "$0")
: "${2:?expected a corpus and a folder: corpus-slurm.sh CORPUS RUN}"
corpus=$(realpath -e "$1")
run=$(realpath -m "$2") stage=${3:-submit} split=${4:-}

# Submit a stage and print the number of its job: stage and split, then options of sbatch.
submit() {
    # A job whose dependency failed would stay in the queue for ever.
    sbatch --parsable --kill-on-invalid-dep=yes --job-name "$1-$2" --output "$run/logs/%x-%j.out" "${@:3}" \
        --wrap "bash $(printf '%q ' "$self" "$corpus" "$run" "$1" "$2")"
}

preprocess() {
    # A job of an earlier submission may be at work on the same part, or have been killed a moment ago.
    # shellcheck disable=SC2086  # the options are words
    discsum preprocess --wait "$corpus/$split.$TABLES" "$run/data/$split" $PREPROCESS "$@"
}

case $stage in
submit)
    mkdir -p "$run/logs"
    finished=afterok
    for name in train validation test; do
        parts=$(submit part "$name" --array "1-$PARTS" --output "$run/logs/%x-%A-%a.out" --cpus-per-task "$CPUS")
        finished+=:$(submit finish "$name" --dependency "afterok:$parts")
    done
    gpus=
    [ "$GPUS" -eq 0 ] || gpus=--gpus-per-node=$GPUS
    trained=$(submit train all --dependency "$finished" --nodes "$NODES" --ntasks-per-node 1 $gpus \
        --cpus-per-task "$((processes * CPUS))")
    submit evaluate all --dependency "afterok:$trained" --cpus-per-task "$CPUS"
    ;;
part)
    preprocess --workers "$CPUS" --part "$SLURM_ARRAY_TASK_ID/$PARTS"
    ;;
finish)
    # 3: some documents failed, and are listed.
    preprocess --finish || [ $? -eq 3 ]
    ;;
train)
    # All names are read: where pipes may not fail, a reader that stops early would end the script.
    mapfile -t HOSTS < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
    HOST=${HOSTS[0]}
    # srun does not inherit --cpus-per-task (since Slurm 22.05).
    export HOST SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK
    # All nodes stop when one fails; otherwise the others would wait for it until the time limit.
    srun --kill-on-bad-exit bash "$self" "$corpus" "$run" node
    ;;
node)
    # Once on each node. --multi_gpu starts several processes with or without GPUs.
    several=
    [ "$((NODES * processes))" -eq 1 ] || several=--multi_gpu
    accelerate launch $several --num_machines "$NODES" --num_processes "$((NODES * processes))" --machine_rank "$SLURM_NODEID" \
        --main_process_ip "$HOST" --main_process_port "${PORT:-29500}" \
        -m discsum train "$RECIPE" "data=$run/data" "train=[{path: train}]" "validation=[{path: validation}]" -o "$run/model"
    ;;
evaluate)
    # shellcheck disable=SC2086  # the options are words
    discsum evaluate "$run/model/best" lead oracle "$run/data/test" $EVALUATE --signature -o "$run/scores.jsonl.gz"
    ;;
*)
    echo "expected no stage, or part, finish, train, node or evaluate, got $stage" >&2
    exit 2
    ;;
esac
