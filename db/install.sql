-- Install Forebay 0.1.0, or upgrade to it: psql -v ON_ERROR_STOP=1 -f db/install.sql
--
-- The files in load order; a function's folder is the role that may call it. One transaction.
-- Running it again changes nothing, and neither does `forebay db upgrade` after it.
-- Written by `forebay db install-script`: do not edit.

\set release 0.1.0
\ir install/begin.sql

-- migrations
\set file migrations/0001_create_roles.sql \set sha256 d5c88b075065fc4799b53272e21ded871ffba4458a6a2641506dbf403e3a6dbe \ir install/apply.sql
\set file migrations/0002_create_agents_and_tasks.sql \set sha256 dcc53952f06a4211ff1b53bc5f407614d5af571cd33d474f9ae76033e5aad562 \ir install/apply.sql
\set file migrations/0003_create_row_types.sql \set sha256 71a854b2e277a4a09d39c8d1e6cae00a3b3d0fdb43ec8823d0c3e93f64287676 \ir install/apply.sql

-- functions/internal
\set file functions/internal/_admit.sql \set sha256 b9874638aabd017a3132b02da7c00a9c0d472375a04e7f3b852afb72e685eeb6 \ir install/apply.sql
\set file functions/internal/_agent_state.sql \set sha256 6480fcb0cbb7d5b4fbf62cc48b637abda45f1e825fba0607eb000a799d884782 \ir install/apply.sql
\set file functions/internal/_audit.sql \set sha256 32089e553f48a7593e9fa9d3b48c4c8a79114aff958c54985fb508629a3befa4 \ir install/apply.sql
\set file functions/internal/_awaits_report.sql \set sha256 b25473f11590e21e4b89fad11eeb8c79a364d9fe23ea904c2b6115395d2cb999 \ir install/apply.sql
\set file functions/internal/_backoff.sql \set sha256 a87af1e5ca8194923095bba294056eca6131f9d1d71a3e4160449a113fa3122f \ir install/apply.sql
\set file functions/internal/_best_priority.sql \set sha256 0dbcb235e0aa2a7c42456ac7ca1b7e5a9358080eb88620e6a51b5eff7f41c2cc \ir install/apply.sql
\set file functions/internal/_cancel.sql \set sha256 97da07e9713ac35517628165e024bebfaf5e302d3bcd1df1b58ff3d8d5cd1b7f \ir install/apply.sql
\set file functions/internal/_candidates.sql \set sha256 692f71ad087fc25525b35205674d7c57c98390a463e5c9adba4a4fb646d193fd \ir install/apply.sql
\set file functions/internal/_claim.sql \set sha256 e04b48f39e04dcbe31e85b0008b170e54b1a7fd0c8ab4ebbe9bb6c498c130a4b \ir install/apply.sql
\set file functions/internal/_count_ahead.sql \set sha256 4d2bdfae743e2ee87eb53f931f538e89921a4a283dcd395676e1352a48c0bc04 \ir install/apply.sql
\set file functions/internal/_effects.sql \set sha256 edca2a94f2fd8503ec811445cdc632c837e5609d3ae1cc0a0ae92d9f471bc298 \ir install/apply.sql
\set file functions/internal/_end_expired.sql \set sha256 f7d7bec0a6ee645b024b3786e3f2e194ac0e3d0af9c3185f59996f2ed626206b \ir install/apply.sql
\set file functions/internal/_error.sql \set sha256 adb4a051012f74a5904509a9301057f0be0eddb4678aa32e5d142ebe158240c1 \ir install/apply.sql
\set file functions/internal/_expiry_error.sql \set sha256 e1283a97ed9cb86740ab276a05881c32936cb69d01a1eed2ffd1fc137e0fbdab \ir install/apply.sql
\set file functions/internal/_explain_running.sql \set sha256 00cead3918517f3123b7dc614261bbc871e8a2c0977c70ffccf8136c2274f932 \ir install/apply.sql
\set file functions/internal/_explain_waiting.sql \set sha256 f31ae76015af822e08dac8139774ec23a0b66b33a6564b97788348a03c356c89 \ir install/apply.sql
\set file functions/internal/_fits.sql \set sha256 5a9e414fc77025c11f925a4c00cc45bd3cc84ed5a963dfa355ee3f420dcb2a48 \ir install/apply.sql
\set file functions/internal/_get_agent.sql \set sha256 fb0113ce03655f74f5b572bc02e4484625039f6432ec3d74838c406a4b6e9d4b \ir install/apply.sql
\set file functions/internal/_get_batch.sql \set sha256 e37e4c4ce84841a4078cdc31483569e40f395e8ae5722ea1ab7c22beae13c168 \ir install/apply.sql
\set file functions/internal/_get_task.sql \set sha256 c6fc5e6f42709483cd56eec6216f7d4ea40c3fe6125110c0190ad0df22ec5703 \ir install/apply.sql
\set file functions/internal/_give_back.sql \set sha256 c82631f39c26769cc76d665ce9b1ec8235b0b6f3360475f99bb583cf0491c21a \ir install/apply.sql
\set file functions/internal/_has_expired.sql \set sha256 755d36195a05c8f22d60c563c91d724ae337350272cd12c56a9eff30ea438e93 \ir install/apply.sql
\set file functions/internal/_head_fits.sql \set sha256 e40e8590e6026d2b7afb245560b678666a0cb2329600f6a6486ed058d2fc1e13 \ir install/apply.sql
\set file functions/internal/_head_tokens.sql \set sha256 4f06a162bc1bea25d7ad4e97efc5fb0ab026e74c26c8254d625116137dccf0a8 \ir install/apply.sql
\set file functions/internal/_in_use.sql \set sha256 d7d5de36672fd50bdf2b00cc1315a4d600c12c594a882e68174817d3bea642ef \ir install/apply.sql
\set file functions/internal/_is_expired.sql \set sha256 4b64da73982a6c45f00c9496c4866b7d6fa3ea786d3421b72eba67424dfed3ad \ir install/apply.sql
\set file functions/internal/_is_external.sql \set sha256 33ab38bd4af2f69f1fbb2ed65d8212f75762270153a8f34a2017752bc9d88f72 \ir install/apply.sql
\set file functions/internal/_is_limited.sql \set sha256 8d5a3fd69909a693ce152043b2a3ea6a54a4fa765445f59e67eb2b5589bc0c5c \ir install/apply.sql
\set file functions/internal/_is_original.sql \set sha256 962b9c892c908dd5689138eb45db681da509ef79c4ed018f6e319f8e363a268e \ir install/apply.sql
\set file functions/internal/_json_boolean.sql \set sha256 a769eaa3a99ba7bf2bb0b51107d5b8bd2f880cbe03f932e1c5c10e75a246196e \ir install/apply.sql
\set file functions/internal/_json_integer.sql \set sha256 1f4281e63a553b7adcfeb21a129e9abb774cf2deec4fc9e16f14455df78ecf55 \ir install/apply.sql
\set file functions/internal/_json_number.sql \set sha256 d2497f88bc602b9fc8f236967d3addb306b2466f47095efa3f2f473f81fe3a88 \ir install/apply.sql
\set file functions/internal/_json_text.sql \set sha256 b6d9b9a01a4d1b56a80d552adfbb0d6c7c3a07ba672d8fbe043afdec50e15f5c \ir install/apply.sql
\set file functions/internal/_json_time.sql \set sha256 8c0d0449e2aa400dcdb5ac2210bb69e56acbcec0b2e124dae1f4ab47dfda5ada \ir install/apply.sql
\set file functions/internal/_levels.sql \set sha256 8679dfb0a58ae6df64599eeb460c795171291b4a674084ca890f11cb3dc84257 \ir install/apply.sql
\set file functions/internal/_lock_attempt.sql \set sha256 c86f01a00e7d0fa55514473e60d592d99e9d12b27600a2d60a7a387c6d502896 \ir install/apply.sql
\set file functions/internal/_lock_tasks.sql \set sha256 5dd0407f097fe0d83a244f9e1ba90ae33f32e26b6b063fe17a71cc166ab9a1a2 \ir install/apply.sql
\set file functions/internal/_match_keys.sql \set sha256 9773b929e0e37219b8803411055dc696b6958206c9ef9ad9c7e1435aaa3f48a3 \ir install/apply.sql
\set file functions/internal/_matching_tasks.sql \set sha256 b3eebffa8f759b257bfe8793811bf96d3fd1e4f23a37d4d181026835318136d3 \ir install/apply.sql
\set file functions/internal/_may_retry.sql \set sha256 f9d12ee381b1659185e050d4c78cf1633a7498fa1f293e9a1e67b7068565c5dd \ir install/apply.sql
\set file functions/internal/_next_round.sql \set sha256 93e3b2df0bf621c18bc8c824a5493955d028c7709da87f4ee2c0afebd7a39dad \ir install/apply.sql
\set file functions/internal/_notify.sql \set sha256 23b84229bef5ecf0ec8a5af554aeb8c8b483302d4fe47340177cbe043b9479a3 \ir install/apply.sql
\set file functions/internal/_now.sql \set sha256 90478a276890afebe7b28ff6c9ea8dcbab53633b724e297326fae945c181509b \ir install/apply.sql
\set file functions/internal/_own_batch.sql \set sha256 b185a868540f1e20dd1578f44dde493a2e9c5aeb430cf0dcc4ff1f0e3bfa65a4 \ir install/apply.sql
\set file functions/internal/_parse_task.sql \set sha256 2a32e2fd7c2c5775fd1c2c3da31d36070c8673d7c73dc47b60b2746b2bb4e380 \ir install/apply.sql
\set file functions/internal/_pause.sql \set sha256 802045cc830c315c73097601aa936543b23ab734b72e5a582bd39f71e0414415 \ir install/apply.sql
\set file functions/internal/_record_usage.sql \set sha256 5d0402cfca7588b41f1e8bb66e8dd17bf84b3695e7554f5207e682f2ee4e3c18 \ir install/apply.sql
\set file functions/internal/_refill.sql \set sha256 178d2f7aec6c4b876037b865f9ecd68c407f64253d9a470c5bc74a3b5f1975be \ir install/apply.sql
\set file functions/internal/_refilled_at.sql \set sha256 3586a1fcb36e87ac82f0b4e3adc025a0cd3079a209a5e69936a3573689649760 \ir install/apply.sql
\set file functions/internal/_report.sql \set sha256 329293bd42dd5ba5b791435daf7202b66cb2b01d276e76e729f8a09ca25c9d5f \ir install/apply.sql
\set file functions/internal/_report_effect.sql \set sha256 df00eafd131d54c8bbd3bd1fe6edb2841c2f393e233d203429d0bc516a58ebb6 \ir install/apply.sql
\set file functions/internal/_report_event.sql \set sha256 c1566e33772639ef4625a5f4ef5e74080827ec40b8b96d823cc9d981cf21f333 \ir install/apply.sql
\set file functions/internal/_request_burst.sql \set sha256 3ce6d0deaee02a3d2198977be6c2d4fac5d4adaaa05c515d9cb309186a45cb6d \ir install/apply.sql
\set file functions/internal/_require_agent_definition.sql \set sha256 0f9b9205964f5b8a568fef26501645ed268cfef1456f7017cbff26acfb88c59d \ir install/apply.sql
\set file functions/internal/_require_agents.sql \set sha256 48c2286848da176245eb89b9fef738a1069870ccacadbeef085afbb31f519920 \ir install/apply.sql
\set file functions/internal/_require_between.sql \set sha256 481a44ff3094737bef1a34c1f22851a6eb3804d529b54687da24ce8c5fa2ed8e \ir install/apply.sql
\set file functions/internal/_require_delay.sql \set sha256 cb60385fa2150164531be20ddb91b72d9335bd2a10a17b4ffadb30722c809f6b \ir install/apply.sql
\set file functions/internal/_require_ids.sql \set sha256 fc6a992477719a7572b769f9aad019867dd8e364fa4fb12b7f5d685d6f305a01 \ir install/apply.sql
\set file functions/internal/_require_open.sql \set sha256 dd6a970dc5c2064c55ab351da1784b120fdbdacfc196d65350fbd018fee5b9cb \ir install/apply.sql
\set file functions/internal/_require_size.sql \set sha256 028dc0b1f7148494435d482d8c2cc6a58cd1e092790a24e72bf02f83b2f5fc90 \ir install/apply.sql
\set file functions/internal/_require_statuses.sql \set sha256 f544d1fe66cce0f9846681661ce65e83ce05a4846932a9225fdab714ee731c89 \ir install/apply.sql
\set file functions/internal/_require_worker.sql \set sha256 ec22cb05a259e9571582eb247529e8e1b747afe8e232e6b1b8312657984de46a \ir install/apply.sql
\set file functions/internal/_result_fault.sql \set sha256 db723ad2b1906b611acfc44968db69e801f51925c7d9f9cc6c4752201e45e85e \ir install/apply.sql
\set file functions/internal/_retry.sql \set sha256 f03c9ca8fdbf9fb3827f3eda0e14b588d9f92a609f975ffaa604da3d5d993cdb \ir install/apply.sql
\set file functions/internal/_room.sql \set sha256 de4edefbcc4d91559d59a11340f048a56af0deb4e8222e2efea982eea053e256 \ir install/apply.sql
\set file functions/internal/_run_outcome.sql \set sha256 168d076a10f42037c9e1655bb86e05ac27e103096926ad6c26cf26e84c9df2d1 \ir install/apply.sql
\set file functions/internal/_run_words.sql \set sha256 e6860293a2233803e5c5cd933985e6de8793a0b7a57c66c5cdc83ed9b3f8bbf4 \ir install/apply.sql
\set file functions/internal/_seen.sql \set sha256 2add6c3f77f4884d21fd0852188ba48bc02172fba510a4848c49e6ae8c0b4217 \ir install/apply.sql
\set file functions/internal/_settle.sql \set sha256 fa52da2867aa0ba14a52a3e4430f756ed0f5b0e5d13c0a268fa1cae9e8f11520 \ir install/apply.sql
\set file functions/internal/_token_burst.sql \set sha256 ecf29e869fde759b492076387bd602f51056f0f2827b1ab33c7203f19e304ed0 \ir install/apply.sql
\set file functions/internal/_usage_tokens.sql \set sha256 ddc6bdcce0b26f9215bb8a236f5b43e80da1848fb991ef1cde96128ebbe69455 \ir install/apply.sql
\set file functions/internal/_waiting_words.sql \set sha256 14ac4d61dab0ec49590a5f81c440fa78ee26d34d18c16016bfbcf0eb7d4acd54 \ir install/apply.sql
\set file functions/internal/_wake_due.sql \set sha256 d9690394da5ae40c7b0de0a1e34c2bb6c53bab9b9788e727e6d41f7eea252dd3 \ir install/apply.sql

-- functions/submitter
\set file functions/submitter/batch_tasks.sql \set sha256 67089590108e01ce781eb5381e94e3dfc49245a43a9a4b27475bc9e92c0bd7c2 \ir install/apply.sql
\set file functions/submitter/cancel_batch.sql \set sha256 9403965db9336cfc3ce7878a1251024cd4ece3b20e8ca55f857a110b4f9eeab2 \ir install/apply.sql
\set file functions/submitter/enqueue.sql \set sha256 bbc2ba6351d2f71eba0a5c46924325653c40244c16324d79ffef41f22f23696a \ir install/apply.sql
\set file functions/submitter/enqueue_many.sql \set sha256 a74cc7974ad1d07f393ba9188002b684eb6cd905f21c18a516e374e3f255506d \ir install/apply.sql
\set file functions/submitter/open_batch.sql \set sha256 3deb61b1912dd37133901f5facb21a92537d8e9002f04f49671a2f8f6113753a \ir install/apply.sql
\set file functions/submitter/retry_batch.sql \set sha256 5547e1cc0780eb9f97d2fe28ed885bdc95f834919e53b4f016a4a0bf39829204 \ir install/apply.sql

-- functions/worker
\set file functions/worker/adopt.sql \set sha256 28e4394bb2bb5a388d9b5c5df2b2c48fb9a99e6fd8d8f438318dae799aee498f \ir install/apply.sql
\set file functions/worker/dequeue.sql \set sha256 d61060f3a2a11d50318734b6638a18881adc845c50c56cbce245133e8ecbfe34 \ir install/apply.sql
\set file functions/worker/observe_run.sql \set sha256 fdf947afc8e07d2c9dbeca1cbd59e03e2cd409f50ae5f9ac14ec805cadc9b9c2 \ir install/apply.sql
\set file functions/worker/record_run.sql \set sha256 2d0f1060aa430974a328343b9ee603ad0eb2f56f6d2ae82577c94584bf253fab \ir install/apply.sql
\set file functions/worker/release.sql \set sha256 2a0aa3daad40a4769d405b1b0ad52154c125f684bbc0b2eb3aa2dc461e52f66b \ir install/apply.sql
\set file functions/worker/renew_leases.sql \set sha256 02479576d59bd62a344cc23ca5a899dbce7302df8cae2c7ea7294e08c0bee45f \ir install/apply.sql
\set file functions/worker/runs_to_cancel.sql \set sha256 93d9491bc167c42b5b6e2473281519e3582140e2e925ab59d039d19ad459a52f \ir install/apply.sql
\set file functions/worker/sweep.sql \set sha256 92aa81014464fc03f09c6617999ac262a7521186768de3957ab3472c20c63ae7 \ir install/apply.sql

-- functions/agent
\set file functions/agent/callback.sql \set sha256 051dfbb62be804c560ad005cb42b2a2592cf095d0fa414035ee2d39214fd49b3 \ir install/apply.sql
\set file functions/agent/complete.sql \set sha256 718ac179068a54bb5c0422846ea1a2b00d1b0563c36f1a46139cd665b1530ad2 \ir install/apply.sql
\set file functions/agent/complete_many.sql \set sha256 16264364c7f2ddedbce067cce26463578364dcf11fd2ec086a2a6c2c830bc526 \ir install/apply.sql
\set file functions/agent/fail.sql \set sha256 32385a40c1c4da6cfa7af63db3a2ba47ea7c914da3bafac30a4e9d7b6f9bdaa6 \ir install/apply.sql
\set file functions/agent/report_progress.sql \set sha256 6b5c0d2ed40b3df22ebc762484ee8665d86ecf534f7078eadfc25c74611549c5 \ir install/apply.sql
\set file functions/agent/report_usage.sql \set sha256 82288a278ed3e36e24877c73291cc5b8766f4ba44acae57953b05ce82cbfc46f \ir install/apply.sql

-- functions/operator
\set file functions/operator/cancel.sql \set sha256 4d9863ac3f96da16518ab68b8e7adb5bf9e6347a1de30153011c663426b1ec7b \ir install/apply.sql
\set file functions/operator/open_installation.sql \set sha256 d1d5450c25960cb8cc11f3bb13b2da914f6e292d55e47fa1e727dadd18fc9b4e \ir install/apply.sql
\set file functions/operator/pause_agent.sql \set sha256 4054a24a892e494ac03b4b3ae9006bb426c81a456bf544562e3bee687394bddd \ir install/apply.sql
\set file functions/operator/register_agent.sql \set sha256 f150b4d05c385c89e10c67d2ed21539f754ebb89109a1ffcadb0ffba8af5bf82 \ir install/apply.sql
\set file functions/operator/reprioritize.sql \set sha256 c9172a0708c1d16a4b7b526a3d53a42b05f5384f30587e21ed7de392902b7921 \ir install/apply.sql
\set file functions/operator/reprocess.sql \set sha256 20d34a9fabbcf72533c134d924e9ac9de0d1fd78928366a0b0a5915f8db4f8f1 \ir install/apply.sql
\set file functions/operator/resume_agent.sql \set sha256 232b0349e69192e7124df03b8b6ff4998f8ad19fc46488c70bfedd8ce8cfacb7 \ir install/apply.sql
\set file functions/operator/retry.sql \set sha256 123bc423f082f4763d1bbd145b63e800f0ffa1f76d98e426e5fbfa61dc961399 \ir install/apply.sql

-- functions/viewer
\set file functions/viewer/agent_status.sql \set sha256 dba926c0ae050e72b55000fa396be7c176d57874327421b0c2f4ca3f55a31bbe \ir install/apply.sql
\set file functions/viewer/batch_progress.sql \set sha256 11cf33c25ab77eaf5520703aabdce002ded4782b6233a47881f3460f83ac226e \ir install/apply.sql
\set file functions/viewer/explain_task.sql \set sha256 35df128eda72e67713e36dfb6ec4d93ce61503c1bab88b693a0274f06924e3eb \ir install/apply.sql
\set file functions/viewer/health.sql \set sha256 9aeb4aa7bfc325e6f11c2a9203bf98b009e7f5f214e9ae3d47bd51432ed2cfa1 \ir install/apply.sql
\set file functions/viewer/list_tasks.sql \set sha256 b8ec49b728031463727d79ec08e6b8efe30ff6c0820627ff5e71d1b28e23d214 \ir install/apply.sql
\set file functions/viewer/schema_version.sql \set sha256 f451f0971e84e14822f60ff1b0e39b4ea6641d73f1114d518675eaec53ede4c4 \ir install/apply.sql
\set file functions/viewer/task_counts.sql \set sha256 69c0a76df134284a146f56d3da4aab74be770f7f721f456dca0639316ed84de9 \ir install/apply.sql
\set file functions/viewer/task_detail.sql \set sha256 454bbe549bdc81851e6bc48cc332fe8eb4735d3cf9c782eae8dc4bd8c655ca6c \ir install/apply.sql

-- functions/reader
\set file functions/reader/task_result.sql \set sha256 c6d7748297226f79a170d35090dbb52466db5d9abb59128fcf53ca2214c2810f \ir install/apply.sql

-- triggers
\set file triggers/agents.sql \set sha256 155072fb9e61180fa46ef5bb1e159f2b3fc6b991a59f337319198a310578a171 \ir install/apply.sql
\set file triggers/tasks.sql \set sha256 5d38a798175cadf25dfb9a0d626dbb72b93fbee8956340b393fdb88a6b188d0a \ir install/apply.sql

-- grants.sql
\set file grants.sql \set sha256 0834f9e1a5998e8b8bf3236d313c93f59f6035b35fcbe6241ea6b95fbba67591 \ir install/apply.sql

\ir install/finish.sql
